"""The web page: ask, read the provision beside, follow its references.

The server makes the whole page, without scripts. Words of documents are text on the page, and the
browser loads nothing from elsewhere. Each answer has its own address.
"""

import asyncio
import json
import re
import secrets
from base64 import b64decode
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    RedirectResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import Route

from localrag import language
from localrag.answer.prompts import language_of
from localrag.doors.calls import MOST_BEFORE, AskCall, Call, CheckCall, ShowCall, problems
from localrag.doors.serve.desk import Refused
from localrag.doors.serve.entrance import COOKIE, Refusing, note_of
from localrag.doors.serve.guarding import GuardedDesk, begun
from localrag.doors.serve.holders import Holder, usual_for
from localrag.doors.serve.work import BESIDE, CHECKED, FILED, FileCall, FileCheckCall, Refusal
from localrag.language import LANGUAGES, N_, _
from localrag.text.harmless import harmless, one_line

_TEMPLATES = Path(__file__).with_name("templates")
_LANGUAGE = "localrag-language"
_YEAR = 365 * 24 * 3600
# Kept answers.
_KEPT = 200
VIEWS = {
    "": N_("Text and references"),
    "affected": N_("What depends on it"),
    "history": N_("History"),
    "pending": N_("Amendments to come"),
}
"""The views of a provision on the page."""
_OF_VIEW = ("at", "corpus", "as_of", "view")
# Several laws in one field.
_APART = re.compile("[、,，;；\n]")
_MEDIA = {
    ".md": "text/markdown; charset=utf-8",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
}
# Fields of a form, and seconds until a page shows that it waits.
_FIELDS, _SHORT = 10, 1.0
_CUT = "<!-- answer -->"

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


@dataclass
class Kept:
    """A question of the page, with its answer once it is there, or a checked text.

    Attributes:
        holder: the client; nobody else may see it.
        call: the question; of a checked text its corpus and day.
        html: the answer, or the findings.
        answer: as conversations keep it.
        title: of a checked text.
    """

    holder: Holder
    call: Call
    html: str | None = None
    answer: str = ""
    title: str = ""


class Shelf:
    """The last questions, by random names."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def put(self, kept: Kept) -> str:
        """Keep a question; the oldest of many is dropped."""
        name = secrets.token_urlsafe(12)
        self._kept[name] = kept
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return name

    def get(self, name: str, holder: Holder, kind: type[Call] = AskCall) -> Kept:
        """Find what a holder kept with a call of this kind; raises HTTPException if nothing is."""
        kept = self._kept.get(name)
        if kept is None or kept.holder != holder or type(kept.call) is not kind:
            raise HTTPException(404)
        return kept


def wants_page(request: Request) -> bool:
    """Whether a browser asks for a page."""
    return "text/html" in request.headers.get("accept", "")


def failure(request: Request, status: int, refusal: Refusal) -> Response:
    """The page for a failure."""
    with language.using(_code(request)):
        return _shown(request, "failure.html", status, refusal=refusal)


def _code(request: Request) -> str:
    """The language of a page: chosen there, else of the browser, else of the server."""
    chosen = request.query_params.get("lang") or request.cookies.get(_LANGUAGE, "")
    if chosen in LANGUAGES:
        return chosen
    wanted = request.headers.get("accept-language", "")[:2].lower()
    return wanted if wanted in LANGUAGES else language.in_use()


def _spoken(handler: Handler) -> Handler:
    """Make a page in the reader's language, and remember a choice."""

    @wraps(handler)
    async def speak(request: Request) -> Response:
        code = _code(request)
        with language.using(code):
            reply = await handler(request)
        if "lang" in request.query_params:
            reply.set_cookie(_LANGUAGE, code, max_age=_YEAR, httponly=True, samesite="strict")
        return reply

    return speak


def _shown_harmless(value: Any) -> Any:
    return harmless(value) if type(value) is str else value


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Texts cannot reorder the page or begin lines.
        finalize=_shown_harmless,
    )
    made.globals |= {"_": _, "languages": LANGUAGES}
    # A screen reader needs the language of each text.
    made.globals["language_of"] = language_of
    return made


def _text(request: Request, template: str, **values: Any) -> str:
    desk: GuardedDesk = request.app.state.desk
    holder = note_of(request).holder
    given = {
        "code": language.in_use(),
        "holder": holder.name,
        "corpora": desk.corpora(holder),
        "corpus": usual_for(desk.desk, holder),
        "question": "",
        "law": "",
        "as_of": request.query_params.get("as_of", ""),
        "file": "",
        "checked": None,
        "views": VIEWS,
        "view": request.query_params.get("view", ""),
        "at": request.query_params.get("at", ""),
        "answer": None,
        "beside": None,
        "refusal": None,
        "waiting": False,
        "link": _linker(request),
        **values,
    }
    return _environment().get_template(template).render(given)


def _shown(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(_text(request, template, **values), status)


def _linker(request: Request) -> Callable[..., str]:
    """Writes the address of this page with other parameters."""
    # Two slashes, or one and a backslash, would begin the name of another server.
    path = "/" + quote(request.scope["path"].lstrip("/"), errors="replace")

    def link(**changed: str) -> str:
        now = {name: request.query_params.get(name, "") for name in _OF_VIEW}
        wanted = {name: value for name, value in {**now, **changed}.items() if value}
        return f"{path}?{urlencode(wanted, errors='replace')}"

    return link


@_spoken
async def _home(request: Request) -> Response:
    return _shown(request, "read.html")


@_spoken
async def _provision(request: Request) -> Response:
    return _shown(request, "read.html", **await _beside(request))


async def _beside(request: Request, of: Call | None = None) -> Mapping[str, Any]:
    """The provision in view, or the reason for its absence; `of` is the call of the page."""
    asked = request.query_params
    at, corpus = asked.get("at", ""), asked.get("corpus", of.corpus if of else "")
    if not at:
        return {}
    desk: GuardedDesk = request.app.state.desk
    named = {"corpus": corpus} if corpus else {}
    try:
        day = asked.get("as_of") or (of.as_of if of else None)
        call = ShowCall.of(corpus=corpus, citation=at, as_of=day)
        view = BESIDE.get(asked.get("view", ""), BESIDE[""])
        found = json.loads(await desk.look_up(request, view, call))
        return {**named, "beside": found}
    except Refused as refused:
        return {**named, "refusal": refused.refusal}
    except ValidationError as error:
        return {"refusal": Refusal("UsageError", problems(error), "", 2)}


@_spoken
async def _ask(request: Request) -> Response:
    """Take a question, and redirect to its answer."""
    form = await _form(request)
    question = form.get("question", "").strip()
    if not question:
        return RedirectResponse("/", 303)
    shelf: Shelf = request.app.state.shelf
    before: tuple[str, ...] = ()
    if earlier := form.get("after"):
        asked: Any = shelf.get(earlier, note_of(request).holder).call
        before = (*asked.after, asked.question)[-MOST_BEFORE:]
    call = AskCall.of(
        question=question,
        corpus=form.get("corpus", ""),
        law=[law.strip() for law in _APART.split(form.get("law", "")) if law.strip()],
        as_of=form.get("as_of") or None,
        after=before,
        model="without-model" not in form,
    )
    # The corpus is fixed now, for all later pages.
    call = request.app.state.desk.allowed(request, call)
    name = shelf.put(Kept(note_of(request).holder, call))
    return RedirectResponse(f"/answers/{name}#answer", 303)


@_spoken
async def _answer(request: Request) -> Response:
    shelf: Shelf = request.app.state.shelf
    kept = shelf.get(request.path_params["name"], note_of(request).holder)
    # Answers from a forgotten corpus are gone too.
    request.app.state.desk.allowed(request, kept.call)
    if kept.html is None:
        answering = await begun(_answered(request, kept), _SHORT)
        if not answering.done():
            return StreamingResponse(
                _awaited(request, kept, answering, language.in_use()), media_type="text/html"
            )
    beside = await _beside(request, kept.call)
    return _shown(request, "read.html", **{**_of(request, kept), **beside})


async def _answered(request: Request, kept: Kept) -> None:
    desk: GuardedDesk = request.app.state.desk
    assert isinstance(kept.call, AskCall)
    told = await desk.ask(request, kept.call)
    kept.html, kept.answer = told["html"], told["kept"]


def _of(request: Request, kept: Kept) -> dict[str, Any]:
    call = kept.call
    assert isinstance(call, AskCall)
    return {
        "question": call.question,
        "answer": kept.html,
        "corpus": call.corpus,
        "law": "、".join(call.law),
        "as_of": _iso(call),
        "file": request.path_params["name"],
    }


def _iso(call: Call) -> str:
    return call.as_of.isoformat() if call.as_of else ""


@_spoken
async def _file(request: Request) -> Response:
    """The file of an answer, once the answer is there."""
    ending = f".{request.path_params['ending']}"
    kept = request.app.state.shelf.get(request.path_params["name"], note_of(request).holder)
    if ending not in _MEDIA or not kept.answer:
        raise HTTPException(404)
    assert isinstance(kept.call, AskCall)
    desk: GuardedDesk = request.app.state.desk
    call = FileCall(
        corpus=kept.call.corpus,
        as_of=kept.call.as_of,
        question=kept.call.question,
        kept=kept.answer,
        ending=ending,
    )
    content = b64decode(json.loads(await desk.look_up(request, FILED, call)))
    headers = {"content-disposition": f'attachment; filename="answer{ending}"'}
    return Response(content, media_type=_MEDIA[ending], headers=headers)


@_spoken
async def _check(request: Request) -> Response:
    """Show the form for a text; check one, and redirect to its findings."""
    if request.method != "POST":
        return _shown(request, "check.html", **await _beside(request))
    desk: GuardedDesk = request.app.state.desk
    async with request.form(max_files=1, max_fields=_FIELDS) as form:
        given = {name: value for name, value in form.items() if isinstance(value, str)}
        fields = {"corpus": given.get("corpus", ""), "as_of": given.get("as_of") or None}
        of = desk.allowed(request, Call.of(**fields))
        upload, text = form.get("file"), given.get("text", "")
        if isinstance(upload, UploadFile) and upload.filename:
            title = one_line(PurePosixPath(upload.filename.replace("\\", "/")).name)
            html = await _of_file(request, of, title, await upload.read())
        elif text.strip():
            title, call = _("The given text"), CheckCall.of(**fields, text=text)
            html = json.loads(await desk.look_up(request, CHECKED, call))
        else:
            return RedirectResponse("/checks", 303)
    kept = Kept(note_of(request).holder, of, html, title=title)
    return RedirectResponse(f"/checks/{request.app.state.shelf.put(kept)}#checked", 303)


async def _of_file(request: Request, of: Call, title: str, content: bytes) -> str:
    """The findings of a file, kept on disk for the time of the check alone."""
    desk: GuardedDesk = request.app.state.desk
    with TemporaryDirectory() as folder:
        # Words of clients name no file here; the ending decides how to read it.
        path = Path(folder) / f"text{_ending(title)}"
        path.write_bytes(content)
        call = FileCheckCall(corpus=of.corpus, as_of=of.as_of, path=str(path))
        html: str = json.loads(await desk.look_up(request, CHECKED, call))
        return html


def _ending(name: str) -> str:
    """The ending of a file name, ".txt" unless it is a few plain letters."""
    ending = PurePosixPath(name).suffix.lower()
    return ending if re.fullmatch(r"\.[a-z0-9]{1,8}", ending) else ".txt"


@_spoken
async def _findings(request: Request) -> Response:
    shelf: Shelf = request.app.state.shelf
    kept = shelf.get(request.path_params["name"], note_of(request).holder, Call)
    request.app.state.desk.allowed(request, kept.call)
    shown = {"checked": kept.html, "title": kept.title, "corpus": kept.call.corpus}
    shown |= {"as_of": _iso(kept.call)}
    return _shown(request, "check.html", **{**shown, **await _beside(request, kept.call)})


async def _awaited(
    request: Request, kept: Kept, answering: "asyncio.Future[None]", code: str
) -> AsyncIterator[str]:
    """The page of a slow answer: its head, then the rest."""
    values = _of(request, kept)

    def part(number: int, **more: Any) -> str:
        with language.using(code):
            return _text(request, "read.html", **{**values, **more}).split(_CUT)[number]

    try:
        yield part(0, waiting=True)
        try:
            await answering
        except (Refused, Refusing) as error:
            yield part(1, waiting=True, refusal=error.refusal)
        else:
            yield part(1, waiting=True, answer=kept.html)
    finally:
        answering.cancel()


@_spoken
async def _sign_in(request: Request) -> Response:
    """Exchange a token for a session of the browser, or ask for one.

    The printed address contains the token; the browser is redirected to one without it. A link on
    another page signs nobody in: the token could belong to somebody else.
    """
    if request.method == "POST":
        token = (await _form(request)).get("token", "").strip()
    else:
        token = request.query_params.get("token", "")
        if not token or request.headers.get("sec-fetch-site", "none") != "none":
            return _shown(request, "sign_in.html", wrong=False)
    holder = request.app.state.tokens.holder(token)
    if holder is None:
        return _shown(request, "sign_in.html", 401, wrong=True)
    reply = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    session = request.app.state.sessions.begin(holder)
    reply.set_cookie(COOKIE, session, httponly=True, secure=secure, samesite="strict")
    return reply


@_spoken
async def _sign_out(request: Request) -> Response:
    request.app.state.sessions.end(request.cookies.get(COOKIE, ""))
    reply = RedirectResponse("/sign-in", 303)
    reply.delete_cookie(COOKIE)
    return reply


async def _form(request: Request) -> dict[str, str]:
    """The fields of a form; raises HTTPException if it cannot be read."""
    try:
        text = (await request.body()).decode()
        return dict(parse_qsl(text, max_num_fields=_FIELDS))
    except ValueError as error:
        raise HTTPException(400, _("The form cannot be read.")) from error


async def _style(_: Request) -> Response:
    headers = {"cache-control": "max-age=3600"}
    return FileResponse(_TEMPLATES / "style.css", media_type="text/css", headers=headers)


ROUTES = (
    Route("/", _home),
    Route("/provision", _provision),
    Route("/answers", _ask, methods=["POST"]),
    Route("/answers/{name}", _answer),
    Route("/answers/{name}/answer.{ending}", _file),
    Route("/checks", _check, methods=["GET", "POST"]),
    Route("/checks/{name}", _findings),
    Route("/sign-in", _sign_in, methods=["GET", "POST"]),
    Route("/sign-out", _sign_out, methods=["POST"]),
    Route("/style.css", _style),
)
