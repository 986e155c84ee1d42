"""What was read of a store, kept for as long as nobody writes it.

One question looks up the same laws and provisions at every stage, and the next question many of
them again.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from localrag.database import Database

Asked = TypeVar("Asked", bound=Hashable)
Answer = TypeVar("Answer")

# Answers kept from one question to the next: some hundred texts of provisions among them.
_MOST = 10_000


class Memory:
    """Answers of look-ups of one database.

    Outside of `holding` nothing is kept, and everything is looked up: who writes and then reads
    finds what was written. Look-ups are told apart by a name, for each of which questions and
    answers are of one kind.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._answers: defaultdict[str, dict[Any, Any]] = defaultdict(dict)
        self._mark: tuple[int, int] | None = None
        self._holds = False

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Keep what is looked up, and give it again.

        Whether the file was written since it was kept is looked at once, when this begins.
        """
        if self._holds:
            yield
            return
        mark = self._database.mark
        if mark != self._mark or sum(map(len, self._answers.values())) > _MOST:
            self._answers.clear()
            self._mark = mark
        self._holds = True
        try:
            yield
        finally:
            self._holds = False

    def once(self, name: str, asked: Asked, look_up: Callable[[Asked], Answer]) -> Answer:
        """The answer to one question."""
        if not self._holds:
            return look_up(asked)
        known: dict[Asked, Answer] = self._answers[name]
        if asked not in known:
            known[asked] = look_up(asked)
        return known[asked]

    def of_each(
        self,
        name: str,
        asked: Iterable[Asked],
        look_up: Callable[[Collection[Asked]], Mapping[Asked, Answer]],
    ) -> dict[Asked, Answer]:
        """The answers to many questions, in their order; those without an answer are left out.

        Args:
            name: of the look-up.
            asked: the questions.
            look_up: answers several at once.
        """
        wanted = list(asked)
        known: Mapping[Asked, Answer] = self._answers[name] if self._holds else {}
        unknown = {one for one in wanted if one not in known}
        found = look_up(unknown) if unknown else {}
        self.keep(name, found)
        return {
            one: known[one] if one in known else found[one]
            for one in wanted
            if one in known or one in found
        }

    def keep(self, name: str, answers: Mapping[Asked, Answer]) -> None:
        """Keep answers that were found by other means."""
        if self._holds:
            self._answers[name].update(answers)
