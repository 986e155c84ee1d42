"""`generative`: a model writes claims on numbered sentences, and code checks every claim.

1. **Search** with all stages: resolver, words, meaning, references. For laws the model first writes
   searches in their words (`localrag.methods.searches`).
2. **Sentences** of the hits that may answer, numbered, with stems and neighbours.
3. **Claims.** One call: claims with the numbers of their sentences. Code inserts the quoted words,
   so no quotation can be wrong.
4. **Checks** (`ClaimChecker`). The cited sentences must state the claim. If they do not, code looks
   for sentences that do, and cites these. If no sentence does, the answer is `unsupported`. It is
   also `unsupported` if the sentences are hardly about the question, or no claim is of the kind
   asked for. Other sentences are not cited.
5. **Second reading**, if ``chat.second_reading`` is on. The same model says with one token whether
   the sentences state the claim.
6. **No answer.** If the model finds none, quotations that almost certainly answer are shown
   (`localrag.answer.support`). They are `quoted`, not `supported`.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, create_model
from pydantic_core import from_json

from localrag.answer.checking import ENOUGH, CandidateSentence, carriers, covers, mismatches
from localrag.answer.evidence import Sentence, element, passages_of
from localrag.answer.extractive import quoted
from localrag.answer.pieces import with_context
from localrag.answer.prompts import language_of
from localrag.answer.types import Answer, Citation, Claim, Mismatch, MismatchKind, Status
from localrag.corpus.store import CorpusStore
from localrag.language import N_
from localrag.methods.catalogue import Calls, Case, Purpose, register
from localrag.methods.extractive import EVIDENCE
from localrag.methods.searches import searches_of
from localrag.methods.toolkit import Toolkit
from localrag.search.query import full_text
from localrag.search.question.asked import gives, repeats
from localrag.search.reading import Retrieval
from localrag.search.types import Query
from localrag.text.facts import Fact, FactKind
from localrag_models.chat import Message

_LONGEST_CLAIM = 300
_MOST_CLAIMS, _MOST_CITED = 4, 3
# Least probability of an answer (`localrag.answer.support`): for the sentences of a supported
# claim, and for quotations shown although the model found no answer. The first is below one half,
# because the choice of the model speaks for its sentences.
_ANSWERS = 0.45
_SURE = 0.9
# A cited sentence must add this share of the words of a claim.
_ADDS = 0.2
# The two replies of a second reading, and the least probability of the first.
_WORDS = {"ja": ("はい", "いいえ"), "en": ("yes", "no")}
_AGREED = 0.5


class ClaimsReply(BaseModel):
    """Claims of the shape of `reply_shape`."""

    claims: list[Any]


class CheckedClaim(NamedTuple):
    """A claim and the cited sentences: the supporting ones, if any."""

    claim: Claim
    sentences: Sequence[Sentence]


class ClaimChecker:
    """Checks the claims of one answer, and collects their citations.

    `question` has its options; it is empty if a claim must be in the sentences alone.
    """

    def __init__(self, store: CorpusStore, sentences: Sequence[Sentence], question: str) -> None:
        self.citations: list[Citation] = []
        self._store = store
        self._sentences = sentences
        self._question = question
        self._kept: set[int] = set()
        self._dropped: set[int] = set()

    @property
    def dropped(self) -> int:
        """How many cited sentences support nothing of any claim."""
        return len(self._dropped - self._kept)

    def check(self, text: str, numbers: Sequence[int], *, narrow: bool = False) -> CheckedClaim:
        """Check one claim, and add its citations.

        With `narrow`, a supported claim cites only the necessary sentences: models like to cite
        their neighbours too.
        """
        chosen = [self._sentences[number - 1] for number in dict.fromkeys(numbers)]
        found = self._mismatches(text, chosen)
        moved = False
        if found and (carrying := self._carrying(text, chosen)):
            chosen, found, moved = carrying, (), True
        kept = self._resting(text, chosen) if narrow and not found else chosen
        self._kept.update(one.number for one in kept)
        self._dropped.update(one.number for one in chosen)
        return CheckedClaim(Claim(text, self.cite(kept), found, moved), kept)

    def cite(self, chosen: Sequence[Sentence]) -> tuple[int, ...]:
        """Add the citations of sentences, with stems and provisos; returns their numbers."""
        numbers = []
        for citation in quoted(self._store, [one.piece for one in chosen]):
            if citation not in self.citations:
                self.citations.append(citation)
            numbers.append(self.citations.index(citation) + 1)
        return tuple(numbers)

    def _resting(self, text: str, chosen: Sequence[Sentence]) -> Sequence[Sentence]:
        """The sentences that a claim needs to be supported, or to have most of its words."""
        kept = list(chosen)
        by_share = sorted(chosen, key=lambda one: self._covers(text, [one]), reverse=True)
        # Of two equal sentences, the model cites the better one first.
        for one in reversed(by_share):
            rest = [other for other in kept if other is not one]
            lost = self._covers(text, kept) - self._covers(text, rest)
            if rest and lost < _ADDS and not self._mismatches(text, rest):
                kept = rest
        return kept

    def _mismatches(self, text: str, chosen: Sequence[Sentence]) -> tuple[Mismatch, ...]:
        """What a claim adds to its sentences; the whole claim if they are about other things."""
        said, headings = _read(chosen), _headings(chosen)
        found = mismatches(text, said, headings=headings, question=self._question)
        if found or self._covers(text, chosen) >= ENOUGH:
            return found
        return (Mismatch(MismatchKind.WORDS, text),)

    def _covers(self, text: str, chosen: Sequence[Sentence]) -> float:
        headings = _headings(chosen)
        return covers(text, _read(chosen), headings=headings, question=self._question)

    def _carrying(self, text: str, chosen: Sequence[Sentence]) -> list[Sentence] | None:
        """The other sentences supporting a claim."""
        others = [sentence for sentence in self._sentences if sentence not in chosen]
        carrier = carriers(
            text,
            [CandidateSentence("\n".join(_read([one])), one.passage.header) for one in others],
            cited=_read(chosen),
            headings=_headings(chosen),
            question=self._question,
        )
        if carrier is None:
            return None
        return [others[carrier.index], *(() if carrier.alone else chosen)]


def _read(chosen: Sequence[Sentence]) -> list[str]:
    return [piece.text for piece in with_context([sentence.piece for sentence in chosen])]


def _headings(chosen: Sequence[Sentence]) -> list[str]:
    return list(dict.fromkeys(sentence.piece.label for sentence in chosen))


@register(
    "generative",
    N_("a model writes claims on numbered sentences, and code checks every claim"),
    purpose=Purpose.USE,
    # None if nothing is found; one more if the corpus has laws.
    calls=Calls(fixed=1, more=1),
    writes_queries=True,
)
def answer(case: Case, toolkit: Toolkit) -> Answer:
    """Answer one question by the steps at the head of this file."""
    asked = case.query
    written = searches_of(toolkit, asked)
    found = toolkit.retrieve(asked, written=written)
    hits = [hit for hit in found.hits if not hit.beside]
    # If all laws that the question names are missing, no hit is about them.
    if not hits or (found.reading.missing and not found.reading.named) or found.absent:
        return toolkit.quoted(asked, found)

    messages = partial(numbered_prompt, toolkit, "generative", asked)
    wanted = replace(asked, text="\n".join((asked.text, *(one.words for one in written))))
    sentences = toolkit.sentences(wanted, hits, messages)
    reply = toolkit.ask(messages(sentences), reply_shape(len(sentences)), claims=drafted)
    if not reply.claims:
        return toolkit.quoted(asked, found, _SURE)
    with toolkit.store() as store:
        checker = ClaimChecker(store, sentences, full_text(asked))
        checked = [
            checker.check(claim.text, claim.sentences, narrow=True) for claim in reply.claims
        ]
    claims = [_held(toolkit, asked, found, one) for one in checked]
    return answer_of(toolkit, as_asked(claims, full_text(asked)), checker)


def as_asked(claims: Sequence[Claim], question: str) -> tuple[Claim, ...]:
    """Checked claims compared with the question: one must give the kind of thing it asks for."""
    held = [
        replace(claim, mismatches=(Mismatch(MismatchKind.REPEATS, claim.text),))
        if not claim.mismatches and repeats(claim.text, question)
        else claim
        for claim in claims
    ]
    # A claim that gives it may still be unsupported: then that is the fault.
    if gives("\n".join(claim.text for claim in held), question):
        return tuple(held)
    return tuple(
        replace(claim, mismatches=claim.mismatches or (Mismatch(MismatchKind.ANSWER, claim.text),))
        for claim in held
    )


def answer_of(toolkit: Toolkit, claims: tuple[Claim, ...], checker: ClaimChecker) -> Answer:
    """The answer with some claims, a line each; `supported` if all of them are."""
    if checker.dropped:
        toolkit.note(EVIDENCE, [Fact(FactKind.CITED_FOR_NOTHING, n=checker.dropped)])
    carried = not any(claim.mismatches for claim in claims)
    return Answer(
        text="\n".join(claim.text for claim in claims),
        citations=tuple(checker.citations),
        status=Status.SUPPORTED if carried else Status.UNSUPPORTED,
        trace=toolkit.trace,
        claims=claims,
    )


def numbered_prompt(
    toolkit: Toolkit, name: str, asked: Query, sentences: Sequence[Sentence]
) -> tuple[Message, ...]:
    """The prompt ``<name>.jinja`` about a question, with numbered sentences as its evidence."""
    passages = passages_of(sentences)
    texts = [sentence.text for sentence in sentences]
    places = [passage.place for passage in passages]
    tag = element("evidence", [full_text(asked), *places, *texts])
    return toolkit.prompt(name, asked, options=asked.options, passages=passages, tag=tag)


def _held(toolkit: Toolkit, asked: Query, found: Retrieval, checked: CheckedClaim) -> Claim:
    """A supported claim compared with the question, which its sentences may not answer."""
    claim = checked.claim
    if claim.mismatches:
        return claim
    kind = None
    if toolkit.answers(found, checked.sentences) < _ANSWERS:
        kind = MismatchKind.SUBJECT
    elif toolkit.settings.second_reading and not _agrees(toolkit, asked, checked):
        kind = MismatchKind.READING
    return replace(claim, mismatches=(Mismatch(kind, claim.text),)) if kind else claim


def _agrees(toolkit: Toolkit, asked: Query, checked: CheckedClaim) -> bool:
    """The second reading: one token says whether the sentences state the claim.

    It is a new conversation. After its own reply a small model denies everything it wrote.
    """
    _, question = toolkit.prompt(
        "second_reading",
        asked,
        sentences=[sentence.piece.text for sentence in checked.sentences],
        claim=checked.claim.text,
    )
    yes, no = _WORDS[language_of(asked.text)]
    return toolkit.weigh((question,), (yes, no), "second reading")[yes] >= _AGREED


@cache
def reply_shape(
    sentences: int,
    claims: int = _MOST_CLAIMS,
    cited: int = _MOST_CITED,
    longest: int = _LONGEST_CLAIM,  # characters of a claim, at most
    aspects: int = 0,  # numbers of aspects, one for each claim; 0 for none
) -> type[ClaimsReply]:
    """The shape of a reply, bound to the numbers of the sentences."""
    number = Annotated[int, Field(ge=1, le=sentences)]
    aspect: dict[str, Any] = {}
    if aspects:
        aspect["aspect"] = Annotated[int, Field(ge=1, le=aspects)]
    # The numbers come first: the claim follows from the sentences.
    claim = create_model(
        "Claimed",
        sentences=Annotated[list[number], Field(min_length=1, max_length=cited)],
        **aspect,
        text=Annotated[str, Field(min_length=1, max_length=longest)],
    )
    listed: Any = Annotated[list[claim], Field(max_length=claims)]
    return create_model("Reply", __base__=ClaimsReply, claims=listed)


def drafted(text: str) -> list[str]:
    """The claims in the beginning of a reply."""
    reply = from_json(text, allow_partial="trailing-strings")
    return [claim["text"] for claim in reply.get("claims", []) if "text" in claim]
