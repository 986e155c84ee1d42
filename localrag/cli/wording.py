"""Numbers in sentences."""


def counted(count: int, noun: str) -> str:
    """A number with its noun, in the plural unless it is one: 1 row, 1,200 rows."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
