"""Numbers in sentences."""

from localrag.language import _


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one: 1 row, 1,200 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def duration(seconds: float) -> str:
    """Seconds in the units a person would choose: 40 s, 25 min, 3 h 20 min."""
    if seconds < 10:
        return _("{n:.1f} s").format(n=seconds)
    if seconds < 100:
        return _("{n:.0f} s").format(n=seconds)
    minutes = round(seconds / 60)
    if minutes < 100:
        return _("{n} min").format(n=minutes)
    return _("{h:,} h {n} min").format(h=minutes // 60, n=minutes % 60)
