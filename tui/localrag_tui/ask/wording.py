"""What localrag says of an answer, in the language of the interface."""

from localrag.language import _
from localrag.reading.types import Citation
from localrag.retrieval.types import StageRecord, Trace
from localrag_tui.shown import one_line
from localrag_tui.wording import duration, stage


def rejection(citation: Citation) -> str:
    """Why a quotation was rejected; "" where it was not, or nobody said."""
    return "" if citation.verified or not citation.problem else one_line(str(citation.problem))


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
