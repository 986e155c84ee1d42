"""Orders of the options of a question, so that a liking for a position shows.

The orders are rotations: over as many of them as there are options each option stands once at
each place. Order 0 is the dataset's own.
"""

from dataclasses import replace

from localrag.methods.choices import LABELS
from localrag.retrieval.model import Query

MOST = 4
"""Orders at most; of a question with fewer options the first ones come again."""


def rotated(query: Query, order: int) -> Query:
    """The question with its options in this order."""
    if not query.options:
        return query
    first = order % len(query.options)
    return replace(query, options=(*query.options[first:], *query.options[:first]))


def in_dataset_order(shown: str, order: int, options: int) -> str:
    """The label that an option has in the order of the dataset.

    Args:
        shown: the label it has in `order`.
        order: the order it was shown in.
        options: how many there are.

    Raises:
        ValueError: no option has this label.
    """
    return LABELS[(LABELS[:options].index(shown) + order) % options]
