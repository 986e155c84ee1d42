"""Garbage is collected between keys, not under them.

Python looks for it whenever so many objects were made, which is while a screen is painted; it then
walks through everything that is open, for a tenth of a second and more with a long law.
"""

import gc
from time import monotonic

PACE = 1.0
"""Seconds between two calls of `Garbage.collect`."""

# Seconds after a key in which the next one is expected.
_TYPING = 0.7
# New objects that are worth a look, and so many that they are not left lying while somebody types:
# some megabytes, and some hundreds.
_WORTH, _MOST = 20_000, 1_000_000


class Garbage:
    """Collects in the place of Python, where that has been told not to (``gc.disable``)."""

    def __init__(self) -> None:
        self._last_key = monotonic()
        self._begun = False

    def on_key(self) -> None:
        """Take note that somebody types."""
        self._last_key = monotonic()

    def collect(self) -> None:
        """Collect, if there is anything and this is the time."""
        typing = monotonic() - self._last_key < _TYPING
        if gc.isenabled() or gc.get_count()[0] < (_MOST if typing else _WORTH):
            return
        gc.collect()
        if not self._begun:
            # What is there by now, modules for the most part, is there to the end.
            self._begun = True
            gc.freeze()
