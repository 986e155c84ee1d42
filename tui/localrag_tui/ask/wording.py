"""What localrag says of an answer, in the language of the interface."""

from localrag.facts import told
from localrag.language import N_, _, ngettext
from localrag.reading.types import Answer, Citation, Stage, Status, Step
from localrag.retrieval.model import StageRecord, Trace
from localrag_tui.shown import one_line
from localrag_tui.wording import duration, stage

_SOURCES = {
    Stage.KNOWLEDGE: N_("triples"),
    Stage.DOCUMENTS: N_("documents"),
    Stage.MODEL: N_("the model alone"),
}


def verdict(answer: Answer) -> str:
    """Why the answer has its status."""
    quotations = sum(citation.verified for citation in answer.citations)
    if answer.doubts and answer.status is not Status.SUPPORTED:
        return one_line(told(answer.doubts))
    if answer.status is Status.NOT_FOUND and answer.trace.calls:
        shown = len(answer.trace.stages[-1].hits) if answer.trace.stages else 0
        return ngettext(
            "the model finds no answer in the {n} passage it was shown",
            "the model finds no answer in the {n} passages it was shown",
            shown,
        ).format(n=shown)
    if answer.status is Status.NOT_FOUND:
        return _("nothing in this corpus supports an answer")
    if answer.status is Status.UNSUPPORTED:
        return _("what it cites does not say all of it")
    if answer.status is Status.QUOTED and answer.trace.calls:
        return _("the model finds no answer; this comes nearest, word for word")
    if answer.status is Status.QUOTED:
        return _("this comes nearest, word for word; whether it answers is for you to judge")
    if answer.claims and not answer.label:
        return ngettext(
            "all that it claims stands in {n} quotation, word for word",
            "all that it claims stands in {n} quotations, word for word",
            quotations,
        ).format(n=quotations)
    found = ngettext(
        "{n} quotation, found word for word in its source",
        "{n} quotations, found word for word in their source",
        quotations,
    ).format(n=quotations)
    rejected = len(answer.citations) - quotations
    if not rejected:
        return found
    return _("{found}; {n} rejected").format(found=found, n=rejected)


def rejection(citation: Citation) -> str:
    """Why a quotation was rejected; "" where it was not, or nobody said."""
    return "" if citation.verified or not citation.problem else one_line(str(citation.problem))


def origin(step: Step) -> str:
    """What a step of a derivation was taken from, or what was asked in vain."""
    if step.stage is not None:
        return _(_SOURCES[step.stage])
    if not step.tried:
        return _("not asked")
    return _(", ").join(_(_SOURCES[tried]) for tried in step.tried)


def found(record: StageRecord) -> str:
    """What a stage of the retrieval has found, in short."""
    return f"{stage(record.stage)} {len(record.hits)}"


def cost(trace: Trace, seconds: float) -> str:
    """The tokens that the models read and wrote, and how long it all took."""
    parts = []
    if trace.calls:
        read = sum(call.prompt for call in trace.calls)
        reused = sum(call.cached or 0 for call in trace.calls)
        written = sum(call.completion for call in trace.calls)
        busy = sum(call.seconds for call in trace.calls)
        parts.append(
            _("{read:,} read ({reused:,} reused)").format(read=read, reused=reused)
            if reused
            else _("{read:,} read").format(read=read)
        )
        parts.append(_("{written:,} written").format(written=written))
        if busy > 0:
            parts.append(_("{rate:.1f} tokens/s").format(rate=written / busy))
    return SEPARATOR.join((*parts, duration(seconds)))


SEPARATOR = " · "
"""Between the parts of a line."""
