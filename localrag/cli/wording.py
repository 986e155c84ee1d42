"""Numbers in sentences."""


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one: 1 row, 1,200 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def duration(seconds: float) -> str:
    """Seconds in the units a person would choose: 40 s, 25 min, 3 h 20 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 100:
        return f"{minutes} min"
    return f"{minutes // 60:,} h {minutes % 60} min"
