"""Tokens of a workspace, sessions of browsers, and the corpora of each holder.

Of a token only its digest is kept. A browser gets the number of a session for it, which opens no
other door and expires.
"""

import hmac
import re
import secrets
import time
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

import tomli_w

from localrag.corpus.durable import replace_text, storing
from localrag.doors.calls import Call
from localrag.doors.serve.desk import Desk, Refused
from localrag.doors.serve.work import Refusal
from localrag.errors import ConfigError, NotFoundError, UsageError
from localrag.language import N_

_Call = TypeVar("_Call", bound=Call)

_NAME = re.compile(r"[\w-]{1,64}")
# Bytes of a token, and of the number of a session.
_SECRET = 32
# Lifetime of a session in seconds, and sessions of one holder.
_LASTS, _AT_ONCE = 12 * 3600.0, 50


@dataclass(frozen=True, slots=True)
class Holder:
    """The sender of a request.

    Attributes:
        name: of the token; "" for the owner of the workspace.
        corpora: allowed corpora; None for all.
    """

    name: str = ""
    corpora: tuple[str, ...] | None = None

    def allowed(self, corpora: Sequence[str]) -> list[str]:
        """The allowed corpora among these."""
        return [name for name in corpora if self.corpora is None or name in self.corpora]


NOBODY = Holder(corpora=())
"""A client without a token, who may open the few pages that are for everyone."""

_STARTED = "started"
"""The name of the token that a server makes for itself."""


class Tokens:
    """The digests of tokens with their holders, from a file, if it exists; raises ConfigError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._holders: dict[str, Holder] = {}
        if not path.exists():
            return
        try:
            for name, row in tomllib.loads(path.read_text(encoding="utf-8")).items():
                corpora = tuple(map(str, row["corpora"]))
                self._holders[bytes.fromhex(row["sha256"]).hex()] = Holder(name, corpora or None)
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise ConfigError(
                N_("{path} cannot be read ({problem})."),
                N_("Delete it, and make new tokens: localrag serve --add-token NAME"),
                path=path,
                problem=error,
            ) from error

    def __bool__(self) -> bool:
        return bool(self._holders)

    def holder(self, token: str) -> Holder | None:
        """The holder of a token; every digest is compared in constant time."""
        digest, found = _digest(token), None
        for known, holder in self._holders.items():
            if hmac.compare_digest(known, digest):
                found = holder
        return found

    def add(self, name: str, corpora: Sequence[str]) -> str:
        """Make a token; it replaces any token of its holder. Only its digest is kept.

        Without `corpora` it is for all. Raises UsageError, StorageError.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                N_("{name!r} cannot be the name of a token."),
                N_("Use up to 64 letters, digits, '_' and '-'."),
                name=name,
            )
        if not all(corpora):
            raise UsageError(
                N_("--for has no name of a corpus."),
                N_("Name one (localrag list), or leave --for out: the token is for all of them."),
            )
        token = secrets.token_urlsafe(_SECRET)
        kept = {digest: one for digest, one in self._holders.items() if one.name != name}
        self._holders = {**kept, _digest(token): Holder(name, tuple(corpora) or None)}
        rows = {
            holder.name: {"sha256": digest, "corpora": list(holder.corpora or ())}
            for digest, holder in self._holders.items()
        }
        with storing(self._path):
            replace_text(self._path, tomli_w.dumps(rows))
        return token

    def started(self) -> str:
        """Make a token for all corpora; it ends with this server."""
        token = secrets.token_urlsafe(_SECRET)
        self._holders[_digest(token)] = Holder(_STARTED)
        return token


class Sessions:
    """Sessions of browsers, by random numbers; they expire."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._open: OrderedDict[str, tuple[Holder, float]] = OrderedDict()

    def begin(self, holder: Holder) -> str:
        """Begin a session; the oldest of many ends."""
        own = [number for number, (of, _until) in self._open.items() if of == holder]
        for number in own[: max(0, len(own) - _AT_ONCE + 1)]:
            del self._open[number]
        session = secrets.token_urlsafe(_SECRET)
        self._open[_digest(session)] = (holder, self._now() + _LASTS)
        return session

    def holder(self, session: str) -> Holder | None:
        """The holder of a session; None if it has ended or never began."""
        while self._open and next(iter(self._open.values()))[1] <= self._now():
            self._open.popitem(last=False)
        found = self._open.get(_digest(session))
        return found[0] if found else None

    def end(self, session: str) -> None:
        """End a session, if it is one."""
        self._open.pop(_digest(session), None)


def _digest(secret: str) -> str:
    return sha256(secret.encode(errors="surrogatepass")).hexdigest()


def usual_for(desk: Desk, holder: Holder) -> str:
    """The corpus of a call without a name; "" if the holder may use none."""
    names = holder.allowed(desk.session.corpora())
    return desk.usual if desk.usual in names else "".join(names[:1])


def allowed(desk: Desk, holder: Holder, call: _Call) -> _Call:
    """The call with its corpus filled in; raises Refused."""
    names = holder.allowed(desk.session.corpora())
    name = call.corpus or usual_for(desk, holder)
    if name in names:
        return replace(call, corpus=name)
    if names:
        cure = N_("There is: {known}.")
    elif holder.corpora is None:
        cure = N_("Add documents: localrag add PATH")
    else:
        cure = N_("Ask for a token that is for one.")
    cause = N_("There is no corpus {name!r}.") if name else N_("There is no corpus.")
    raise Refused(Refusal.of(NotFoundError(cause, cure, name=name, known=", ".join(names))))
