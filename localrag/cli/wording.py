"""Numbers and signs in sentences."""

from localrag.language import _


def colon() -> str:
    """What stands between a name and what is said of it, in the language in use."""
    return _(": ")


def aside(words: str) -> str:
    """Words in the brackets of the language in use, with the blank that it wants before them."""
    return _(" ({words})").format(words=words)


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
