"""The questions that were asked before, to be walked through while one is typed."""

from collections.abc import Sequence


class History:
    """What stands at each step of the walk; what was changed there stays until one is asked.

    Args:
        questions: oldest first.
    """

    def __init__(self, questions: Sequence[str] = ()) -> None:
        self._questions = list(questions)
        self._changed: dict[int, str] = {}
        self._at = len(self._questions)

    def older(self, text: str) -> str | None:
        """Leave `text` and go one question back; None where there is none."""
        return self._go(-1, text)

    def newer(self, text: str) -> str | None:
        """Leave `text` and go one question forward, in the end to what was being typed."""
        return self._go(1, text)

    def add(self, question: str) -> None:
        """Take a question that was asked; the next walk begins after it."""
        if question not in self._questions[-1:]:
            self._questions.append(question)
        self._changed.clear()
        self._at = len(self._questions)

    def _go(self, by: int, text: str) -> str | None:
        to = self._at + by
        if not 0 <= to <= len(self._questions):
            return None
        self._changed[self._at] = text
        self._at = to
        asked = self._questions[to] if to < len(self._questions) else ""
        return self._changed.get(to, asked)
