"""How hits, traces and answers are printed, and how they read as JSON."""

from collections.abc import Iterable
from typing import Any

from pydantic_core import to_jsonable_python

from localrag.cli.terminal import say, tell
from localrag.conversations.wording import WORDINGS
from localrag.corpus.types import Passage
from localrag.facts import told
from localrag.question.laws import LawNamed
from localrag.reading.types import Answer, Citation, Claim, Derivation, Stage, Status, Step
from localrag.retrieval.model import Filters, Hit, ModelCall, Query, Retrieval, Trace
from localrag.retrieval.snippet import Snippet, snippet
from localrag.statutes.names import LawNames

_SHOWN = 280
"""Characters of a hit's text, and of what a triple says, that are printed; ``--json`` gives all."""

_QUOTED = 2_000
"""Characters of a quotation, and of a computation, that are printed."""

_VERDICTS = {
    Status.SUPPORTED: ("supported", "bold green"),
    Status.QUOTED: ("quoted", "bold cyan"),
    Status.UNSUPPORTED: ("unsupported", "bold yellow"),
    Status.NOT_FOUND: ("not found", "bold yellow"),
}

_WORDING = WORDINGS["en"]
"""What is said of claims, in the words of exported conversations."""

_STAGES = {
    Stage.KNOWLEDGE: "triples",
    Stage.DOCUMENTS: "documents",
    Stage.MODEL: "the model alone",
}


def print_hits(query: Query, hits: Iterable[Hit]) -> None:
    """Print a paragraph per hit: rank, place, why it was found, the part that matches, id."""
    for hit in hits:
        found = f"{hit.stage} {hit.score:.3f}" + (f": {hit.reason}" if hit.reason else "")
        if hit.beside:
            found += "; beside: of a law that the query does not name"
        say((f"{hit.rank:>2} ", "bold"), (hit.passage.header, "bold cyan"), f"  ({found})")
        _print_snippet(hit.passage.text, snippet(query, hit.passage.text, _SHOWN))
        say((hit.passage.id, "dim"), indent=3)
        say("")


def print_laws(laws: Iterable[LawNamed], names: LawNames) -> None:
    """Print a line for each law that a query names: as what it was read, or that it is lacking."""
    for law in dict.fromkeys((law.words, law.law_ids) for law in laws):
        words, law_ids = law
        if law_ids:
            titles = "; ".join(names.title(law_id) or law_id for law_id in law_ids)
            say((words, "bold"), f" is read as {titles}")
        else:
            say((words, "bold"), (": the corpus has no law called so", "bold yellow"))


def print_trace(trace: Trace) -> None:
    """Print every stage with its time, its hits and what it left out, and every call of a model."""
    for record in trace.stages:
        say(
            (f"stage {record.stage}", "bold"),
            f" {record.subject}" if record.subject else "",
            f"  {len(record.hits)} hits, {record.seconds * 1000:.1f} ms",
        )
        if record.query:
            say(("searched for: ", "dim"), record.query, indent=2)
        for hit in record.hits:
            say(
                f"{hit.rank:>3}  {hit.score:>9.3f}  ",
                (hit.passage.id, "cyan"),
                f"  {hit.passage.header}" + (f"  ({hit.reason})" if hit.reason else ""),
                indent=2,
            )
        for event in record.events:
            say(("note: ", "yellow"), str(event), indent=2)
    for call in trace.calls:
        cached = f" ({call.cached:,} reused)" if call.cached else ""
        say(
            (f"model {call.model}", "bold"),
            f" {call.purpose}" if call.purpose else "",
            f"  {call.prompt:,} tokens read{cached}, {call.completion:,} written, "
            f"{call.seconds:.1f} s",
        )
    say("")


def print_answer(answer: Answer) -> None:
    """Print the laws that are lacking, the verdict, what it rests on, and what was rejected."""
    if answer.read_as:
        say(("read as: ", "dim"), *cut(answer.read_as, most=_QUOTED))
    accepted = sum(citation.verified for citation in answer.citations)
    if answer.absent:
        say(("not in this corpus: ", "bold red"), *cut("、".join(answer.absent), "bold"))
    verdict, style = _VERDICTS[answer.status]
    if answer.label:
        say((f"{answer.label} ", "bold green"), (answer.text, "bold"))
    elif answer.derivation and answer.text:
        say(*cut(answer.text, "bold"))
    say((verdict, style), f": {_in_words(answer, accepted)}")
    if answer.derivation:
        _print_derivation(answer, answer.derivation)
    if answer.claims:
        say("")
    for claim in answer.claims:
        say(claim.text, (f" {_marks(answer, claim)}", "bold"))
        if claim.moved:
            say((_WORDING.moved, "dim"), indent=2)
        for mismatch in claim.mismatches:
            problem = (_WORDING.mismatches[mismatch.kind], "yellow")
            # Some are of the claim as a whole, which stands above.
            words = [] if mismatch.written == claim.text else cut(f": {mismatch.written}")
            say(problem, *words, indent=2)
    for number, citation in enumerate(answer.citations, 1):
        if citation.verified:
            say("")
            say((f"[{number}] ", "bold"), *cut(citation.label, "bold cyan"))
            say(*cut(citation.quote, most=_QUOTED), indent=4)
            place = f"{citation.passage_id}  characters {citation.start}-{citation.end}"
            state = f"  as of {citation.state}" if citation.state else ""
            beside = "  of a law that the question does not name" if citation.beside else ""
            say((place + state + beside, "dim"), indent=4)
    for number, citation in enumerate(answer.citations, 1):
        if not citation.verified:
            say("")
            say(
                (f"[{number}] ", "bold"),
                ("rejected: ", "bold red"),
                *cut(citation.label or citation.passage_id),
                f" ({citation.problem})",
            )
            say(*cut(citation.quote, most=_QUOTED), indent=4)


def cut(text: str, style: str = "", most: int = _SHOWN) -> list[tuple[str, str]]:
    """The beginning of a text as parts of a line, and how long it is where that is not all."""
    if len(text) <= most:
        return [(text, style)]
    return [(text[:most], style), (f" … ({len(text):,} characters in all)", "dim")]


def tell_events(trace: Trace) -> None:
    """Say on standard error what a stage left out or switched off."""
    for event in dict.fromkeys(trace.events):
        tell(("note: ", "yellow"), str(event))


def tell_wordings(trace: Trace) -> None:
    """Say on standard error which words of the law were looked up besides the user's own."""
    for wording in trace.wordings:
        tell(("looked up as well: ", "cyan"), f"{wording.said} → {', '.join(wording.phrases)}")


def retrieval_as_json(query: Query, retrieval: Retrieval) -> dict[str, Any]:
    """Give the JSON of ``localrag search``."""
    return {
        "query": _query(query),
        "laws": [_law(law) for law in retrieval.laws],
        "absent": list(retrieval.absent),
        "hits": [_hit(query, hit) for hit in retrieval.hits],
        "trace": _trace(retrieval.trace),
    }


def answer_as_json(query: Query, answer: Answer) -> dict[str, Any]:
    """Give the JSON of ``localrag ask``."""
    return {
        "query": _query(query),
        "read_as": answer.read_as or None,
        "status": answer.status.value,
        "label": answer.label or None,
        "doubt": told(answer.doubts) or None,
        "text": answer.text,
        "derivation": to_jsonable_python(answer.derivation),
        "claims": to_jsonable_python(answer.claims),
        "citations": [_worded(citation) for citation in answer.citations],
        "absent": list(answer.absent),
        "trace": _trace(answer.trace),
        "calls": [_worded(call) for call in answer.trace.calls],
    }


def _worded(value: Citation | ModelCall) -> dict[str, Any]:
    return {**to_jsonable_python(value), "problem": str(value.problem or "")}


def passage_as_json(passage: Passage) -> dict[str, Any]:
    """Give a passage as JSON; `locator` is the statute place, `start` and `end` its span."""
    return {
        "id": passage.id,
        "document_id": passage.document_id,
        "layer": passage.layer,
        "header": passage.header,
        "locator": passage.locator.path,
        "section": passage.locator.section,
        "page": passage.locator.page,
        "start": passage.start,
        "end": passage.end,
        "text": passage.text,
        "triple": to_jsonable_python(passage.triple),
    }


def _in_words(answer: Answer, quotations: int) -> str:
    if answer.status is Status.NOT_FOUND and answer.doubts:
        return told(answer.doubts)
    if answer.status is Status.NOT_FOUND and answer.trace.calls:
        shown = len(answer.trace.stages[-1].hits)
        return f"the model finds no answer in the {shown} passages it was shown (see --no-model)"
    if answer.status is Status.NOT_FOUND:
        return "nothing in this corpus supports an answer"
    if answer.status is Status.UNSUPPORTED and answer.doubts:
        return told(answer.doubts)
    if answer.status is Status.UNSUPPORTED:
        return "an answer was made, but what it cites does not say all of it"
    if answer.status is Status.QUOTED:
        found = "the model finds no answer; this" if answer.trace.calls else "this"
        return f"{found} comes nearest, word for word; whether it answers is for you to judge"
    noun = "quotation" if quotations == 1 else "quotations"
    rejected = len(answer.citations) - quotations
    others = f"; {rejected} rejected" if rejected else ""
    carried = "all that it claims stands in " if answer.claims and not answer.label else ""
    return f"{carried}{quotations} {noun}, found word for word in the source{others}"


def _marks(answer: Answer, claim: Claim) -> str:
    """The numbers of a claim's citations, the rejected ones struck out."""
    return "".join(_mark(answer, number) for number in claim.citations)


def _mark(answer: Answer, number: int) -> str:
    return f"[{number}]" if answer.citations[number - 1].verified else f"[{number} rejected]"


def _print_derivation(answer: Answer, derivation: Derivation) -> None:
    """Print a line for each step, what was found and where, and then what was computed."""
    say("")
    for number, step in enumerate(derivation.steps, 1):
        say((f"{number}. ", "bold"), *_found(answer, step))
    for computation in derivation.computed:
        say("=> ", *cut(computation, most=_QUOTED))


def _found(answer: Answer, step: Step) -> list[tuple[str, str]]:
    if step.triple is None:
        tried = ", ".join(_STAGES[stage] for stage in step.tried)
        return [
            *cut(f"{step.subject}、{step.predicate}", "cyan"),
            (": ", "cyan"),
            ("not found", "bold yellow"),
            (f" ({tried})" if tried else " (not asked)", "dim"),
        ]
    triple = step.triple
    found = [
        *cut(f"{triple.subject}、{triple.predicate}", "cyan"),
        (": ", "cyan"),
        *cut("、".join(triple.objects), "bold"),
    ]
    if step.citation:
        found.append((f" {_mark(answer, step.citation)}", "bold"))
    if step.stage:
        found.append((f" ({_STAGES[step.stage]})", "dim"))
    return found


def _print_snippet(text: str, shown: Snippet) -> None:
    parts: list[tuple[str, str]] = []
    if shown.start > 0:
        parts.append(("… ", "dim"))
    at = shown.start
    for start, end in shown.highlights:
        parts += [(text[at:start], ""), (text[start:end], "bold")]
        at = end
    parts.append((text[at : shown.end], ""))
    if shown.end < len(text):
        parts.append((f" … ({len(text):,} characters in all)", "dim"))
    say(*((part.replace("\n", " "), style) for part, style in parts), indent=3)


def _query(query: Query) -> dict[str, Any]:
    filters: Filters = query.filters
    return {
        "text": query.text,
        "options": list(query.options),
        "filters": {
            "documents": list(filters.documents),
            "kinds": list(filters.kinds),
            "law_types": list(filters.law_types),
            "layers": list(filters.layers),
            "date_from": filters.date_from,
            "date_to": filters.date_to,
        },
    }


def _law(law: LawNamed) -> dict[str, Any]:
    return {"words": law.words, "start": law.start, "end": law.end, "law_ids": list(law.law_ids)}


def _hit(query: Query, hit: Hit) -> dict[str, Any]:
    shown = snippet(query, hit.passage.text, _SHOWN)
    return {
        "rank": hit.rank,
        "score": hit.score,
        "stage": hit.stage,
        "reason": str(hit.reason or ""),
        "beside": hit.beside,
        "fills": hit.fills,
        "punishes": hit.punishes,
        "passage": passage_as_json(hit.passage),
        "snippet": {"start": shown.start, "end": shown.end, "highlights": shown.highlights},
    }


def _trace(trace: Trace) -> list[dict[str, Any]]:
    return [
        {
            "stage": record.stage,
            "subject": record.subject,
            "query": record.query,
            "seconds": record.seconds,
            "hits": [
                {
                    "rank": hit.rank,
                    "score": hit.score,
                    "passage_id": hit.passage.id,
                    "reason": str(hit.reason or ""),
                }
                for hit in record.hits
            ],
            "events": list(map(str, record.events)),
            "wordings": [
                {"said": wording.said, "phrases": list(wording.phrases)}
                for wording in record.wordings
            ],
        }
        for record in trace.stages
    ]
