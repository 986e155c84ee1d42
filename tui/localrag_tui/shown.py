"""Text for the screen: harmless content, and the words shared by all rooms."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime

from textual.content import Content

from localrag.answer import wording
from localrag.answer.types import Citation
from localrag.errors import LocalragError
from localrag.language import N_, _
from localrag.search.question.everyday import EverydayWord
from localrag.text.facts import Fact, FactKind
from localrag.text.harmless import harmless, one_line

_BREAKS = re.compile(r"[ \t]*[\r\n]\s*")


def content(text: str, style: str = "") -> Content:
    """Harmless text with one style; brackets in it are no markup."""
    return Content.styled(harmless(text), style)


def flat(text: str) -> str:
    """Several lines as one harmless line."""
    return one_line(_BREAKS.sub(" ", text.strip()))


_THOUSANDS = 10_000
"""From here short counts are in thousands."""


def called(name: str, words: Mapping[str, str]) -> str:
    """The name of something in the language of the interface; else its own name."""
    return _(words[name]) if name in words else one_line(name)


def provenance(citation: Citation) -> str:
    """The remarks on a quotation; "" for none."""
    return " · ".join(map(one_line, wording.remarks(citation)))


def looked_up(words: Iterable[EverydayWord]) -> list[str]:
    """The words of statutes looked up for everyday words."""
    return [one_line(str(fact)) for fact in wording.looked_up(words)]


def stage(name: str) -> str:
    """The name of a stage."""
    return one_line(wording.step(name))


def palette(*commands: str) -> str:
    """How to reach commands of the palette."""
    return _("Ctrl+P, then: {command}").format(command=" / ".join(commands))


def cure_of(error: LocalragError) -> str:
    """The cure of an error, in terms of the workbench."""
    return remedy(error.remedy)


def remedy(found: str | Fact) -> str:
    """A cure in terms of the workbench: a command of the palette, not of a shell."""
    if not isinstance(found, Fact):
        return found
    match found.kind:
        case FactKind.TO_INDEX | FactKind.TO_REBUILD:
            return palette(_("Index the corpus"))
        case FactKind.TO_EXAMINE:
            return palette(_("Doctor"))
        case FactKind.TO_NAME_MODEL | FactKind.TO_SET_MODEL:
            return _("Models (F6): u uses one that is installed, p pulls one, a adds a file.")
        case FactKind.TO_NAME_OUT | FactKind.TO_BEGIN_ANEW:
            return _("Name another file for the answers.")
        case FactKind.TO_NAME_RUN:
            words = _("Choose another name, or remove the folder {folder}.")
            return words.format(**found.fields)
        case FactKind.TO_LEAVE_ORDERS:
            return _("Leave the orders at 1.")
        case FactKind.TO_LEAVE_JUDGE:
            return _("Choose no judge.")
        case _:
            return str(found)


_INDEXING = {
    FactKind.NO_VECTORS: N_(
        "the corpus has no vectors yet: searched by words only; make them ({way})"
    ),
    FactKind.OTHER_VECTORS: N_(
        "the vectors of the corpus do not fit the model {model}: searched by words only; make "
        "them again ({way})"
    ),
    FactKind.INDEX_BEHIND: N_(
        "corpus {corpus} has changed since it was indexed; index it again to search the new "
        "contents ({way})"
    ),
}
"""Notes with indexing as their cure."""


def note(told: Fact | str) -> str:
    """A note on a search or a run, in one line, with its cure in the workbench."""
    if isinstance(told, Fact) and told.kind in _INDEXING:
        way = palette(_("Index the corpus"))
        return one_line(_(_INDEXING[told.kind]).format(way=way, **told.fields))
    return one_line(str(told))


def duration(seconds: float) -> str:
    """Seconds in a fitting unit."""
    if seconds < 10:
        return _("{n} s").format(n=f"{seconds:.1f}")
    if seconds < 100:
        return _("{n} s").format(n=f"{seconds:.0f}")
    if seconds < 6000:
        return _("{n} min").format(n=f"{seconds / 60:.0f}")
    return _("{n} h").format(n=f"{seconds / 3600:.1f}")


def size(count: int) -> str:
    """Bytes in a fitting unit."""
    if count >= 10**9:
        return f"{count / 1e9:,.1f} GB"
    return f"{count / 1e6:,.1f} MB" if count >= 10**5 else f"{count / 1e3:,.1f} kB"


def shortened(count: int) -> str:
    """A count in at most six cells."""
    if count < _THOUSANDS:
        return f"{count:,}"
    thousands = count / 1000
    if thousands < 1000:
        return f"{thousands:.1f}k" if count % 1000 else f"{thousands:.0f}k"
    return f"{thousands / 1000:,.1f}M"


def when(iso: str) -> str:
    """A local date and time; "" for none."""
    try:
        return f"{datetime.fromisoformat(iso).astimezone():%Y-%m-%d %H:%M}"
    except ValueError:
        return ""
