"""An answer in words, for command line, workbench and exports."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from localrag.answer.types import Answer, Citation, MismatchKind, Stage, Status, Step, Veracity
from localrag.corpus.types import Passage
from localrag.language import N_, _, ngettext
from localrag.search.question.everyday import EverydayWord
from localrag.search.types import FOLLOW_UP, STATE_ASKED, Hit, Trace
from localrag.text.facts import Fact, FactKind, told

if TYPE_CHECKING:
    # The first paint of the workbench needs words but no store.
    from localrag.corpus.store import DocumentInfo
    from localrag.law.applied import ReadText, ReadWords
    from localrag.search.question.everyday import EverydayWord

STATUSES: Mapping[str, str] = {
    Status.SUPPORTED: N_("supported"),
    Status.QUOTED: N_("quoted"),
    Status.UNSUPPORTED: N_("unsupported"),
    Status.NOT_FOUND: N_("not found"),
}
"""The status of an answer, in short."""

VERACITIES: Mapping[str, str] = {
    Veracity.SUPPORTED: N_("supported"),
    Veracity.REFUTED: N_("refuted"),
    Veracity.NOT_ENOUGH: N_("not enough evidence"),
    Veracity.CONFLICTING: N_("conflicting evidence"),
}
"""Verdicts of fact-checks, in short."""

FAILURES: Mapping[str, str] = {
    "InputError": N_("unreadable"),
    "UsageError": N_("malformed question"),
    "ModelUnusable": N_("unusable model"),
    "ReplyInvalid": N_("unusable reply"),
    "ContextExceeded": N_("too long"),
    "OutOfMemory": N_("out of memory"),
    "ServerRefused": N_("refused by server"),
    "ServerTrouble": N_("server in trouble"),
    "ServerUnreachable": N_("server unreachable"),
}
"""Why a question has no answer, in short, by name of the error."""

MISMATCHES: Mapping[str, str] = {
    MismatchKind.FIGURE: N_("this figure is not in the cited text"),
    MismatchKind.DATE: N_("this date is not in the cited text"),
    MismatchKind.PERIOD: N_("this period is not in the cited text"),
    MismatchKind.SHARE: N_("this share is not in the cited text"),
    MismatchKind.AMOUNT: N_("this amount is not in the cited text"),
    MismatchKind.PROVISION: N_("this provision is not in the cited text"),
    MismatchKind.NAME: N_("this name is not in the cited text"),
    MismatchKind.COUNTERPART: N_("the cited text has another word of the same kind"),
    MismatchKind.ROLE: N_("in the cited text, actor and recipient are reversed"),
    MismatchKind.NEGATION: N_("its negation differs from the cited text"),
    MismatchKind.EXCEPTION: N_("its exception differs from the cited text"),
    MismatchKind.BOUND: N_("its bound differs from the cited text"),
    MismatchKind.MODALITY: N_("its may or must differs from the cited text"),
    MismatchKind.WORDS: N_("the cited text is about other things"),
    MismatchKind.SUBJECT: N_("it is not about the subject of the question"),
    MismatchKind.ANSWER: N_("it is not the kind of answer asked for"),
    MismatchKind.REPEATS: N_("it only repeats the question"),
    MismatchKind.READING: N_("reading it again, the model does not find it in the cited text"),
}
"""Problems of claims."""

_UNSUPPORTED = {
    MismatchKind.WORDS: N_("an answer was made, but the cited text is about other things"),
    MismatchKind.SUBJECT: N_(
        "an answer was made, but the cited text is not about the subject of the question"
    ),
    MismatchKind.READING: N_(
        "an answer was made, but reading it again, the model does not find it in the cited text"
    ),
    MismatchKind.REPEATS: N_("an answer was made, but it only repeats the question"),
    MismatchKind.ANSWER: N_("an answer was made, but it is not the kind of answer asked for"),
}
"""Why an answer with full citations is unsupported, worst first."""

STEPS = {
    FOLLOW_UP: N_("question read"),
    STATE_ASKED: N_("state of the law"),
    "resolve": N_("citations"),
    "lexical": N_("words"),
    "dense": N_("meaning"),
    "fuse": N_("fused"),
    "rerank": N_("reread"),
    "expand": N_("expanded"),
    "triples": N_("triples"),
    "query": N_("query"),
    "search": N_("search"),
    "written": N_("written searches"),
    "query-prompt": N_("query-prompt"),
    "decomposition": N_("decomposition"),
    "decomposition need": N_("need of decomposition"),
    "sub-question": N_("sub-question"),
    "comparison": N_("comparison"),
    "subject": N_("subject"),
    "agreement": N_("agreement"),
    "knowledge": N_("knowledge"),
    "documents": N_("documents"),
    "model": N_("model"),
    "question": N_("question"),
    "findings": N_("findings"),
    "verdict": N_("verdict"),
    "knock-out": N_("knock-out"),
    "choice": N_("choice"),
    "answer": N_("answer"),
    "second reading": N_("second reading"),
    "second search": N_("second search"),
    "evidence": N_("evidence"),
    "merge": N_("merge"),
    "decide": N_("decide"),
    "triple": N_("triple"),
    "ask": N_("ask"),
    "claim": N_("claim"),
    "claim questions": N_("questions about the claim"),
    "sentences": N_("sentences"),
    "supplement": N_("supplementary context"),
    "analysis": N_("analysis"),
    "augmentation": N_("augmentation"),
    "chunks": N_("chunks"),
    "aspects": N_("aspects"),
}
"""Names of steps, subjects and purposes of model calls."""

_LACKING = (FactKind.NO_SUCH_LAW, FactKind.CITED_LAW_LACKING)
"""Notes naming a law missing from the corpus."""

_SOURCES = {
    Stage.KNOWLEDGE: N_("triples"),
    Stage.DOCUMENTS: N_("documents"),
    Stage.MODEL: N_("the model alone"),
}


def step(name: str) -> str:
    """A step or model call of a trace in words: "fuse", "verdict b"."""
    if name in STEPS:
        return _(STEPS[name])
    kind, blank, which = name.partition(" ")
    return f"{_(STEPS.get(kind, kind))}{blank}{which}"


def verdict(answer: Answer, shown: int | None = None) -> str:
    """Why an answer has its status.

    Args:
        answer: the answer.
        shown: passages shown to a model, if the trace has them no longer.
    """
    if answer.doubts and answer.status in (Status.NOT_FOUND, Status.UNSUPPORTED):
        return told(answer.doubts)
    if answer.status is Status.NOT_FOUND and answer.trace.calls:
        if shown is None:
            shown = len(answer.trace.stages[-1].hits) if answer.trace.stages else 0
        return ngettext(
            "the model finds no answer in the {n} passage it was shown",
            "the model finds no answer in the {n} passages it was shown",
            shown,
        ).format(n=shown)
    if answer.status is Status.NOT_FOUND:
        told_of = {event.kind: event for event in answer.trace.events}
        left = told_of.get(FactKind.FILTERS_LEAVE)
        # Earlier versions stored no note for 0 passages.
        if FactKind.FILTERS_LEAVE_NOTHING in told_of or (left and not left.fields["n"]):
            return _("the filters leave nothing of this corpus to answer from")
        if left:
            return _("nothing in the part of this corpus matched by the filters supports an answer")
        return _("nothing in this corpus supports an answer")
    if answer.status is Status.UNSUPPORTED:
        kinds = {one.kind for claim in answer.claims for one in claim.mismatches}
        if kinds and kinds <= _UNSUPPORTED.keys():
            return _(next(words for kind, words in _UNSUPPORTED.items() if kind in kinds))
        return _("an answer was made, but the cited text does not say all of it")
    if answer.status is Status.QUOTED and answer.trace.calls:
        return _(
            "the model finds no answer; these are the closest passages, word for word; check that "
            "they answer the question"
        )
    if answer.status is Status.QUOTED:
        return _("the closest passages, word for word; check that they answer the question")
    quotations = sum(citation.verified for citation in answer.citations)
    if answer.claims and not answer.label:
        return ngettext(
            "every claim is in {n} quotation, found word for word in the source",
            "every claim is in {n} quotations, found word for word in the source",
            quotations,
        ).format(n=quotations)
    found = ngettext(
        "{n} quotation, found word for word in the source",
        "{n} quotations, found word for word in the source",
        quotations,
    ).format(n=quotations)
    rejected = len(answer.citations) - quotations
    return _("{found}; {n} rejected").format(found=found, n=rejected) if rejected else found


def events(trace: Trace, absent: Collection[str] = ()) -> Iterator[Fact]:
    """Notes of the steps, each once.

    Args:
        trace: of a search or an answer.
        absent: missing laws already reported.
    """
    for event in dict.fromkeys(trace.events):
        if event.kind not in _LACKING or event.fields["name"] not in absent:
            yield event


def looked_up(words: Iterable[EverydayWord]) -> Iterator[Fact]:
    """Statutory counterparts that were searched for as well."""
    for word in words:
        if word.others:
            yield Fact(FactKind.LOOKED_UP, said=word.said, phrases=word.others)


def nearest(status: str) -> str:
    """The heading of the nearest passages, by `Status` of the answer."""
    if status in (Status.SUPPORTED, Status.QUOTED):
        return _("Also near in this corpus; they may not answer")
    return _("Nearest in this corpus; they may not answer")


def instead() -> str:
    """The heading of quotations replacing unsupported claims."""
    return _("What the texts say, word for word; check whether it answers")


def by_unsupported_model() -> str:
    """The heading of unsupported claims."""
    return _("Written by the model, not supported")


def supplement(answer: Answer, citation: Citation) -> str:
    """A model's summary of the context of a cited sentence, marked as such, or ""."""
    found = answer.checked.evidence if answer.checked else ()
    written = next((one.supplement for one in found if one.citation == citation), "")
    return _("written by a model, no quotation: {text}").format(text=written) if written else ""


def mismatch(kind: str, written: str, claim: str) -> str:
    """The problem of a claim, with the words concerned unless it is the whole claim."""
    problem = _(MISMATCHES[kind]) if kind in MISMATCHES else kind
    if written == claim:
        return problem
    return _("{problem}: {words}").format(problem=problem, words=written)


def moved() -> str:
    """The remark on a claim with citations replaced by code."""
    return _("code chose these sentences: the model's own do not support the claim")


def state(
    date: str,
    followed: str = "",
    *,
    not_yet: bool = False,
    before_first: bool = False,
    old: bool = False,
) -> str:
    """The remark on the state of a quoted law.

    Args:
        date: the day the text came into force.
        followed: the day of the next text in the corpus, or "".
        not_yet: it was not yet in force on the day asked for.
        before_first: the corpus lacks the text of that day.
        old: it is much older than that day.
    """
    if old:
        told = state(date, followed, not_yet=not_yet, before_first=before_first)
        return _("{state}; later amendments may be missing").format(state=told)
    if before_first:
        return _("the corpus has no state of this day; this one is in force from {date}").format(
            date=date
        )
    if not_yet:
        return _("not yet in force: from {date}").format(date=date)
    if followed:
        return _("in force from {date}, until {followed}").format(date=date, followed=followed)
    return _("in force from {date}").format(date=date)


def state_of(law: "DocumentInfo") -> str:
    """The remark on the text shown of a law, or "" if its day is unknown."""
    date = law.metadata.get("date", "")
    if not date:
        return ""
    return state(
        date,
        law.followed,
        not_yet=law.not_yet,
        before_first=law.before_first,
        old=law.old,
    )


def remarks(citation: Citation) -> list[str]:
    """The remarks on a quotation."""
    told = []
    if citation.state:
        told.append(
            state(
                citation.state,
                citation.followed,
                not_yet=citation.not_yet,
                before_first=citation.before_first,
            )
        )
    if citation.beside:
        told.append(beside())
    if citation.changes:
        told.append(changes(citation.changes))
    if citation.confidence is not None:
        told.append(read_by_ocr(citation.confidence))
    return told


def read_by_ocr(confidence: float) -> str:
    """The remark on text read by OCR, with its confidence."""
    return _("read by OCR, confidence {confidence:.2f}").format(confidence=confidence)


def of_passage(passage: Passage) -> str:
    """The remarks on a passage, or ""."""
    confidence = passage.locator.confidence
    return "" if confidence is None else read_by_ocr(confidence)


def changed() -> str:
    """The heading of a provision that changes the one above it."""
    return _("For the time being it is read or applied otherwise, by: ")


def changes(label: str) -> str:
    """The remark on a provision that temporarily changes another."""
    return _("changes for the time being how {provision} applies").format(provision=label)


def beside() -> str:
    """The remark on a quotation or hit outside the laws named."""
    return _("of a law not named in the question")


def by_model(hit: Hit) -> str:
    """Labels of a hit assigned by a model, among those asked for, or ""."""
    from localrag.corpus.types import facet_name

    labels = _(", ").join(f"{facet_name(key)}={value}" for key, value in hit.by_model)
    return _("told by a model: {labels}").format(labels=labels) if labels else ""


def made_by_code(text: "ReadText") -> str:
    """The heading of a text as another provision reads it."""
    told = _("Made by code, not the text of a law: {by} replaces the words. 【 】 replaces 〔 〕.")
    return told.format(by=text.by.header)


def as_read(text: "ReadText") -> Iterator[tuple[str, str]]:
    """Its pieces: new words and, behind them, the words of the law, or ""."""
    for piece in text.pieces:
        yield (f"【{piece.text}】", f"〔{piece.replaced}〕") if piece.replaced else (piece.text, "")


def not_made() -> str:
    """The heading of readings code could not apply."""
    return _("Replacements not made")


def replacement(words: "ReadWords") -> tuple[str, str]:
    """Words to be read otherwise, with a remark if they do not occur."""
    note = ""
    if words.times == 0:
        note = _("  (these words are not found there)")
    elif words.times is None:
        note = _("  (not checked: code cannot locate these words)")
    return f"「{words.replaced}」→「{words.replacing}」", note


def untold() -> str:
    """The remark on provisions code cannot identify."""
    return _("  (code cannot identify these provisions)")


def origin(step: Step) -> str:
    """The source of a derivation step, or the sources tried in vain."""
    if step.stage is not None:
        return _(_SOURCES[step.stage])
    if not step.tried:
        return _("not asked")
    return _(", ").join(_(_SOURCES[tried]) for tried in step.tried)


def mark(answer: Answer, number: int) -> str:
    """The mark of a citation, from 1; a rejected one is marked so."""
    if answer.citations[number - 1].verified:
        return f"[{number}]"
    return _("[{number} rejected]").format(number=number)
