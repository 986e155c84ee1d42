"""Asks e-Gov for laws: archives of many, and the texts of one law by API version 2.

Addresses and parameters follow e-Gov's OpenAPI document (lawapi-v2.yaml, 2.1.139). One
connection is open at a time, with a pause between two requests. e-Gov sends archives without a
size and refuses ranges; other servers may give both.
"""

import json
import ssl
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote, urlsplit
from urllib.request import getproxies

from localrag.corpus.durable import open_file, storing
from localrag.errors import ConfigError, InputError, NotFoundError
from localrag.language import N_
from localrag.ops.laws.types import Archive, Revision
from localrag.text.facts import Fact

if TYPE_CHECKING:
    import httpx

    from localrag.corpus.config import LawsConfig

Made = TypeVar("Made")

REPEALED = ("Repeal", "Expire", "LossOfEffectiveness")
"""Values of ``repeal_status`` for laws no longer in force."""
DAYS_KEPT = 90
"""How long e-Gov keeps the archive of a day: three months."""

_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")
_BUSY = frozenset((408, 429, 500, 502, 503, 504))
# e-Gov answers with 500 for a day without changes.
_NOTHING_THAT_DAY = frozenset((404, 500))
_LONGEST_WAIT = 600.0
_LONGEST_PAUSE = 60.0
_PAGE = 1_000
_LARGEST_ANSWER = 1 << 28
_ADDRESS = N_("The addresses are the settings laws.archive and laws.api.")
_ELSEWHERE = N_(
    "Check the network and try again: it continues. Without a network: localrag laws download "
    "--to FOLDER on another machine, then localrag laws import FOLDER here."
)
_LATER = N_("Try again later: it continues. A longer laws.pause asks more slowly.")


class _Again(Exception):  # noqa: N818 - another try can help
    """A request failed, perhaps for a moment.

    Args:
        told: the error for the user, if no try succeeds.
        wait: seconds asked for by the server; None without.
    """

    def __init__(self, told: InputError, wait: float | None = None) -> None:
        super().__init__(str(told))
        self.told = told
        self.wait = wait


class EGov:
    """e-Gov's servers, or others with the same interface.

    Args:
        settings: addresses, proxy, certificates, patience.
        sleep: waits some seconds.

    Raises:
        ConfigError: an address or a certificate of the settings cannot be used.
    """

    def __init__(self, settings: "LawsConfig", sleep: Callable[[float], None] = time.sleep) -> None:
        self._settings = settings
        self._sleep = sleep
        self._next = 0.0
        for key, address in (("laws.archive", settings.archive), ("laws.api", settings.api)):
            _require_address(key, address)
        self._client = self._made()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def _made(self) -> "httpx.Client":
        import httpx

        settings = self._settings
        try:
            return httpx.Client(
                headers={"User-Agent": f"localrag/{version('localrag')}"},
                timeout=settings.timeout,
                verify=_trusted(settings.certificates),
                proxy=settings.proxy or None,
                limits=httpx.Limits(max_connections=1),
                follow_redirects=True,
                event_hooks={"request": [self._require_https]},
            )
        # A proxy of the environment may need a missing package.
        except (ValueError, httpx.InvalidURL, ImportError) as error:
            raise ConfigError(
                N_("The proxy {proxy} cannot be used ({problem})."),
                N_("Correct laws.proxy, or HTTPS_PROXY in the environment."),
                proxy=settings.proxy or getproxies().get("https", ""),
                problem=error,
            ) from error

    # Archives

    def address(self, archive: Archive) -> str:
        """The address of an archive."""
        asked = "&".join(f"{key}={value}" for key, value in archive.parameters.items())
        return f"{self._settings.archive}?{asked}"

    def size(self, archive: Archive) -> int | None:
        """Ask for the size of an archive in bytes; None if the server does not say.

        Raises:
            InputError: the connection fails.
        """
        url = self.address(archive)

        def ask() -> int | None:
            with self._answer(url, "HEAD", {}) as response:
                told = response.headers.get("content-length", "")
                is_size = response.status_code == 200 and told.isdecimal()
                return int(told) if is_size else None

        return self._retried(ask)

    def fetch_archive(
        self, archive: Archive, part: Path, on_bytes: Callable[[int], object]
    ) -> bool:
        """Fetch the rest of an archive into `part`, until the connection has sent all of it.

        Args:
            archive: the archive.
            part: its unfinished file; it keeps the bytes of a failed call.
            on_bytes: called with the number of bytes at hand.

        Returns:
            Whether there is one: e-Gov has none of a day without changes.

        Raises:
            InputError: the server fails, or sends something else.
            StorageError: the disk is full or not writable.
        """
        url = self.address(archive)
        absent = _NOTHING_THAT_DAY if archive.day else frozenset[int]()
        best, idle = 0, 0

        def ask() -> bool:
            nonlocal best, idle
            try:
                return self._continue(url, part, absent, on_bytes)
            except _Again:
                have = _size(part)
                # A server without ranges begins again: only more than before is an advance.
                best, idle = max(best, have), 0 if have > best else idle + 1
                raise

        return self._retried(ask, lambda: idle >= self._settings.tries)

    def _continue(
        self, url: str, part: Path, absent: Collection[int], on_bytes: Callable[[int], object]
    ) -> bool:
        have, note = _size(part), part.with_name(f"{part.name}.tag")
        headers = {"Accept-Encoding": "identity"}
        if have:
            headers["Range"] = f"bytes={have}-"
            if note.exists():
                headers["If-Range"] = note.read_text(encoding="utf-8")
        with self._answer(url, "GET", headers) as response:
            if response.status_code in absent:
                return False
            if response.status_code == 416:  # All of it is here already.
                return True
            self._require_success(response, url)
            with storing(part), open_file(part, "ab") as writer:
                if response.status_code != 206 or not _continues(response, have):
                    writer.truncate(0)
                    have = 0
                    _note_tag(note, response)
                for chunk in self._chunks(response, url):
                    writer.write(chunk)
                    have += len(chunk)
                    on_bytes(have)
        return True

    # Laws

    def search(self, title: str) -> list[Revision]:
        """Find laws by words of their title or abbreviation.

        Raises:
            InputError: the server fails.
        """
        return list(self._listed({"law_title": title}))

    def repealed(self) -> set[str]:
        """The ids of all laws no longer in force.

        Raises:
            InputError: the server fails.
        """
        return {one.law_id for one in self._listed({"repeal_status": ",".join(REPEALED)})}

    def _listed(self, asked: Mapping[str, str]) -> Iterator[Revision]:
        offset: object = 0
        while isinstance(offset, int):
            url = self._api("laws", {**asked, "limit": str(_PAGE), "offset": str(offset)})
            answer = self._json(url)
            with _understood(url):
                found = [_revision(one["law_info"], one["revision_info"]) for one in answer["laws"]]
            yield from found
            following = answer.get("next_offset")
            offset = following if found and following != offset else None

    def revisions(self, law: str) -> list[Revision]:
        """The states of a law, by its id or number, the newest first.

        Raises:
            NotFoundError: e-Gov has no such law.
            InputError: the server fails.
        """
        url = self._api(f"law_revisions/{quote(law, safe='')}", {})
        try:
            answer = self._json(url, absent=(400, 404))
        except FileNotFoundError:
            raise NotFoundError(
                N_("e-Gov has no law {law}."),
                N_("Find it by its title: localrag laws list --online WORDS"),
                law=law,
            ) from None
        with _understood(url):
            return [_revision(answer["law_info"], one) for one in answer["revisions"]]

    def fetch_text(self, revision: str, form: str, part: Path) -> None:
        """Fetch the text of a state into `part`, as e-Gov's XML or JSON.

        Raises:
            InputError: the server fails, or has no such text.
            StorageError: the disk is full or not writable.
        """
        url = self._api(f"law_data/{quote(revision, safe='')}", {"response_format": form})

        def ask() -> None:
            with self._answer(url, "GET", {}) as response:
                self._require_success(response, url)
                with storing(part), open_file(part, "wb") as writer:
                    for chunk in self._chunks(response, url):
                        writer.write(chunk)

        self._retried(ask)

    def _api(self, path: str, asked: Mapping[str, str]) -> str:
        asked = {"response_format": "json", **asked}
        words = "&".join(f"{key}={quote(value, safe=',')}" for key, value in asked.items())
        return f"{self._settings.api.rstrip('/')}/{path}?{words}"

    def _json(self, url: str, absent: Collection[int] = ()) -> dict[str, Any]:
        """Ask for a JSON object; a status in `absent` is a FileNotFoundError."""

        def ask() -> bytes:
            with self._answer(url, "GET", {}) as response:
                if response.status_code in absent:
                    raise FileNotFoundError(url)
                self._require_success(response, url)
                content = bytearray()
                for chunk in self._chunks(response, url):
                    content += chunk
                    if len(content) > _LARGEST_ANSWER:
                        raise _no_api(url, "too long")
                return bytes(content)

        with _understood(url):
            answer = json.loads(self._retried(ask))
            if not isinstance(answer, dict):
                raise TypeError(type(answer).__name__)
        return answer

    # Requests

    @contextmanager
    def _answer(
        self, url: str, method: str, headers: Mapping[str, str]
    ) -> Iterator["httpx.Response"]:
        wait = self._next - time.monotonic()
        if wait > 0:
            self._sleep(wait)
        try:
            with (
                self._told(url),
                self._client.stream(method, url, headers=dict(headers)) as response,
            ):
                yield response
        finally:
            self._next = time.monotonic() + self._settings.pause

    def _chunks(self, response: "httpx.Response", url: str) -> Iterator[bytes]:
        with self._told(url):
            yield from response.iter_bytes()

    def _retried(self, ask: Callable[[], Made], is_over: Callable[[], bool] | None = None) -> Made:
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt

        stop = stop_after_attempt(self._settings.tries)
        trying = Retrying(
            stop=(lambda _: is_over()) if is_over else stop,
            wait=self._patience,
            retry=retry_if_exception_type(_Again),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return trying(ask)
        except _Again as error:
            raise error.told from error

    def _patience(self, state: Any) -> float:
        """Seconds before the next try: as the server asks, else twice as many each time."""
        asked = state.outcome.exception().wait
        doubled = self._settings.pause * 2 ** min(state.attempt_number, 10)
        return float(asked if asked is not None else min(doubled, _LONGEST_PAUSE))

    def _require_success(self, response: "httpx.Response", url: str) -> None:
        status = response.status_code
        if status in (200, 206):
            return
        told = InputError(_answers(status), _cure(status), url=url, status=status)
        if status not in _BUSY:
            raise told
        wait = _asked_wait(response.headers.get("retry-after", ""))
        if wait is not None and wait > _LONGEST_WAIT:
            raise InputError(
                N_("{url} asks for a pause of {n:,.0f} seconds (status {status})."),
                N_("Try again later: it continues."),
                url=url,
                n=wait,
                status=status,
            )
        raise _Again(told, wait)

    def _require_https(self, request: "httpx.Request") -> None:
        """Refuse a redirect to an address without https, or to this machine."""
        here = urlsplit(self._settings.archive).hostname in _THIS_MACHINE
        here = here or urlsplit(self._settings.api).hostname in _THIS_MACHINE
        if request.url.scheme == "https" or (here and request.url.host in _THIS_MACHINE):
            return
        raise InputError(
            N_("The server sends us on to {url}, without https."),
            _ADDRESS,
            url=request.url,
        )

    @contextmanager
    def _told(self, url: str) -> Iterator[None]:
        """Turn failures of the connection into errors with the setting to change."""
        import httpx

        try:
            yield
        except httpx.TransportError as error:
            told = self._failed(url, error)
            if _certificate(error) or isinstance(
                error, (httpx.ProxyError, httpx.UnsupportedProtocol)
            ):
                raise told from error
            raise _Again(told) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _no_api(url, error) from error

    def _failed(self, url: str, error: Exception) -> InputError:
        import httpx

        problem = str(error) or type(error).__name__
        proxy = self._settings.proxy or getproxies().get("https", "")
        fields = {"url": url, "problem": problem, "proxy": proxy, "n": self._settings.timeout}
        if _certificate(error):
            return InputError(
                N_("The certificate of {url} is not trusted ({problem})."),
                N_(
                    "If your network inspects connections, name its certificate (PEM) in "
                    "laws.certificates. Otherwise do not trust this connection."
                ),
                **fields,
            )
        if isinstance(error, httpx.ProxyError) or (proxy and isinstance(error, httpx.ConnectError)):
            return InputError(
                N_("The proxy {proxy} does not lead to {url} ({problem})."),
                N_("Correct laws.proxy, or HTTPS_PROXY in the environment."),
                **fields,
            )
        if isinstance(error, httpx.TimeoutException):
            return InputError(
                N_("{url} gave no sign of life for {n:g} seconds."),
                N_("Try again: it continues. laws.timeout sets the seconds."),
                **fields,
            )
        return InputError(N_("{url} cannot be fetched ({problem})."), _ELSEWHERE, **fields)


def _trusted(certificates: str) -> ssl.SSLContext:
    import certifi

    # The system's certificates or SSL_CERT_FILE; certifi's for systems without any.
    trusted = ssl.create_default_context()
    try:
        trusted.load_verify_locations(certifi.where())
        if certificates:
            trusted.load_verify_locations(Path(certificates).expanduser())
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            N_("The certificates in {path} cannot be read ({problem})."),
            N_("Name a file of certificates (PEM) in laws.certificates."),
            path=certificates,
            problem=error,
        ) from error
    return trusted


def _require_address(key: str, address: str) -> None:
    parts = urlsplit(address)
    if parts.hostname and (
        parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _THIS_MACHINE)
    ):
        return
    raise ConfigError(
        N_("{key} is no address of https: {address}."),
        N_("Correct it in localrag.toml, or leave it out."),
        key=key,
        address=address,
    )


def _answers(status: int) -> str:
    if status == 403:
        return N_("{url} refuses the request (status 403).")
    if status == 404:
        return N_("There is nothing at {url} (status 404).")
    return N_("{url} answers with status {status}.")


def _cure(status: int) -> str | Fact:
    if status in (400, 404):
        return _ADDRESS
    if status in _BUSY:
        return _LATER
    return _ELSEWHERE


def _asked_wait(told: str) -> float | None:
    """Seconds of a header Retry-After; it holds a number or a date."""
    if told.isascii() and told.isdecimal():
        return float(told)
    try:
        until = parsedate_to_datetime(told)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _certificate(error: BaseException | None) -> bool:
    """Whether a failure comes from a certificate."""
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _continues(response: "httpx.Response", have: int) -> bool:
    told: str = response.headers.get("content-range", "")
    return told.startswith(f"bytes {have}-")


def _note_tag(note: Path, response: "httpx.Response") -> None:
    """Keep the mark of the file, to continue no other file later."""
    tag = response.headers.get("etag", "")
    if tag and not tag.startswith("W/"):
        note.write_text(tag, encoding="utf-8")
    else:
        note.unlink(missing_ok=True)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _revision(law: Mapping[str, Any], one: Mapping[str, Any]) -> Revision:
    return Revision(
        id=str(one["law_revision_id"]),
        law_id=str(law["law_id"]),
        title=str(one["law_title"] or ""),
        law_num=str(law.get("law_num") or ""),
        day=str(one.get("amendment_enforcement_date") or ""),
        status=str(one.get("current_revision_status") or ""),
        updated=str(one.get("updated") or ""),
        names=tuple(_abbreviations(one.get("abbrev"))),
    )


def _abbreviations(told: object) -> Iterable[str]:
    return filter(None, (name.strip() for name in str(told or "").split(",")))


@contextmanager
def _understood(url: str) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise _no_api(url, error) from error


def _no_api(url: str, problem: object) -> InputError:
    return InputError(
        N_("{url} sent an unreadable answer ({problem})."),
        _ADDRESS,
        url=url,
        problem=problem,
    )
