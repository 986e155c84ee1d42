"""Integers between two bounds, as a rule of a grammar."""

LARGEST = 10**18 - 1
"""Bound of integers that have none of their own; all fit 64 bits."""


def integer_rule(lowest: int, highest: int) -> str:
    """GBNF for the decimal integers from `lowest` to `highest`, without leading zeros.

    Args:
        lowest: negative or not.
        highest: at least `lowest`.
    """
    rules = []
    if lowest < 0:
        rules += [f'"-" {rule}' for rule in _rules(max(1, -highest), -lowest)]
    if highest >= 0:
        rules += _rules(max(0, lowest), highest)
    return f"({' | '.join(rules)})"


def _rules(low: int, high: int) -> list[str]:
    """One rule per number of digits."""
    rules = []
    while low <= high:
        last = min(high, 10 ** len(str(low)) - 1)
        rules.append(_between(str(low), str(last)))
        low = last + 1
    return rules


def _between(low: str, high: str) -> str:
    """Digit strings of one length from `low` to `high`."""
    if low == high:
        return f'"{low}"' if low else '""'
    if set(low) == {"0"} and set(high) == {"9"}:
        return f"[0-9]{{{len(low)}}}"
    first, last, rest = int(low[0]), int(high[0]), len(low) - 1
    if first == last:
        return f'"{first}" {_between(low[1:], high[1:])}'
    options = []
    if low[1:] != "0" * rest:
        options.append(f'"{first}" {_between(low[1:], "9" * rest)}')
        first += 1
    end = []
    if high[1:] != "9" * rest:
        end.append(f'"{last}" {_between("0" * rest, high[1:])}')
        last -= 1
    if first <= last:
        options.append(f"[{first}-{last}]" + (f" [0-9]{{{rest}}}" if rest else ""))
    return f"({' | '.join(options + end)})"
