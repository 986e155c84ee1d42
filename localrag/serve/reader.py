"""Looks things up in the corpora of a session, one call after the other; of every process one."""

import threading
from collections import OrderedDict
from datetime import date

from localrag import language
from localrag.calls import Call
from localrag.errors import LocalragError
from localrag.harmless import json_text
from localrag.serve.work import EVERY, Refusal
from localrag.session import Corpus, Session

# Corpora (of a day) that a process keeps open.
_OPEN = 8


def key_of(session: Session, call: Call) -> tuple[object, ...]:
    """What a corpus is opened for: the settings of a call, and the day that "today" is."""
    return call.corpus, tuple(session.overrides.items()), date.today()


class Reader:
    """Looks things up, one call after the other, and keeps the corpora open that it looked in."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open: OrderedDict[object, Corpus] = OrderedDict()
        self._working = threading.Lock()

    def carry_out(self, name: str, call: Call, code: str) -> bytes | Refusal:
        """Do the work of a call, and give its JSON in UTF-8.

        Args:
            name: of the work.
            call: fits it.
            code: of the language in which messages are written.
        """
        with self._working, language.using(code):
            try:
                result = EVERY[name].do(self._corpus(call), call)
            except LocalragError as error:
                return Refusal.of(error)
            return json_text(result, allow_nan=False).encode()

    def close(self) -> None:
        """Let go of the corpora."""
        with self._working:
            for corpus in self._open.values():
                corpus.close()
            self._open.clear()

    def _corpus(self, call: Call) -> Corpus:
        session = self._session.with_settings(call.settings())
        key = key_of(session, call)
        if key not in self._open:
            self._open[key] = session.corpus(call.corpus)
            if len(self._open) > _OPEN:
                self._open.popitem(last=False)[1].close()
        self._open.move_to_end(key)
        return self._open[key]
