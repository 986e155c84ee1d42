"""The HTTP server: its routes, their OpenAPI description, its start (``localrag serve``).

``POST /search`` and the other calls take JSON and give the JSON of the command line. Every failure
is one object, in the form of the OpenAI protocol.
"""

import asyncio
import os
import re
import ssl
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import uvicorn
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from pydantic import TypeAdapter, ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from localrag import __version__
from localrag.corpus.config import ServeConfig
from localrag.doors.as_json.found import CorpusJson
from localrag.doors.calls import AskCall, adapter, problems
from localrag.doors.serve import openai, page
from localrag.doors.serve.desk import Desk, Refused
from localrag.doors.serve.entrance import Guard, Refusing, Rules, note_of, sent
from localrag.doors.serve.guarding import Gone, GuardedDesk, Metrics, noting
from localrag.doors.serve.holders import Sessions, Tokens
from localrag.doors.serve.listening import (
    Door,
    configured,
    ended_in_order,
    is_loopback,
    opened_door,
)
from localrag.doors.serve.work import WORK, Refusal
from localrag.doors.session import Session
from localrag.errors import UsageError
from localrag.language import N_, _

# By exit code of the command line. 409: the call is valid, but the corpus makes it impossible.
_STATUSES = {2: 409, 3: 404, 4: 400, 5: 503, 6: 503, 7: 503, 8: 502}
_MOST_PROCESSES = 4
# Seconds until the server must be ready.
_SOON = 10.0
# For the log: the client has left.
_GONE = 499
# Paths without a token; they show nothing of a corpus.
_OPEN = frozenset({"/health", "/sign-in", "/style.css"})


def serve(
    session: Session, on_start: Callable[[str, str], None], socket: Path | None = None
) -> None:
    """Serve until the process ends; raises UsageError, StorageError, ConfigError.

    Args:
        session: workspace and settings.
        on_start: gets the address, and the token made for this start or "".
        socket: path of a Unix socket for the owner alone, without a token. Otherwise the server
            listens on the address of the settings.
    """
    settings = session.config().serve
    tokens = Tokens(session.workspace.tokens)
    if socket is None:
        _require_safe(settings, tokens)
    processes = settings.processes or min(os.cpu_count() or 1, _MOST_PROCESSES)

    async def run(door: Door) -> None:
        async with Desk(session, processes) as desk:
            application_ = application(
                GuardedDesk(desk, settings.queue), settings, tokens, of_owner=socket is not None
            )
            config = configured(
                application_,
                door,
                settings,
                lifespan="off",
                timeout_graceful_shutdown=int(_SOON),
                proxy_headers=bool(settings.proxy),
                forwarded_allow_ips=settings.proxy,
                ssl_certfile=settings.certificate or None,
                ssl_keyfile=settings.key or None,
            )
            on_start(door.address("https" if settings.certificate else "http"), made)
            await uvicorn.Server(config).serve(sockets=[door.listening])

    with opened_door(settings.host, settings.port, socket) as door, ended_in_order():
        made = tokens.started() if socket is None and not tokens else ""
        asyncio.run(run(door))


def _require_safe(settings: ServeConfig, tokens: Tokens) -> None:
    if bool(settings.certificate) != bool(settings.key):
        raise UsageError(
            N_("A certificate needs its private key, and a key its certificate."),
            N_("Set serve.certificate and serve.key."),
        )
    if settings.certificate:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                settings.certificate, settings.key
            )
        except OSError as error:
            raise UsageError(
                N_("The certificate {path} and its key cannot be used ({problem})."),
                N_("Name files in the form PEM that belong together."),
                path=settings.certificate,
                problem=error,
            ) from error
    # A proxy passes on requests of other machines.
    if is_loopback(settings.host) and not settings.proxy:
        return
    if not tokens:
        raise UsageError(
            N_("Other machines reach {host}, and nobody has a token."),
            N_("Make one first: localrag serve --add-token NAME"),
            host=settings.host,
        )
    if not (settings.certificate or settings.proxy):
        raise UsageError(
            N_("Tokens would cross the network unencrypted."),
            N_("Set serve.certificate and serve.key, or name the proxy that speaks TLS: {setting}"),
            setting="serve.proxy",
        )


def application(
    desk: GuardedDesk, settings: ServeConfig, tokens: Tokens, *, of_owner: bool = False
) -> ASGIApp:
    """All routes behind the guard; for `tokens` and `of_owner` see `Rules`."""
    metrics = Metrics((desk.looking, desk.asking, desk.checking))

    async def show_metrics(request: Request) -> Response:
        if note_of(request).holder.corpora is not None:
            raise HTTPException(403, _("The token is for some corpora alone."))
        return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)

    app = Starlette(
        routes=[
            *(Route(f"/{name}", _route_of(name), methods=["POST"]) for name in WORK),
            Route("/corpora", _corpora),
            Route("/openapi.json", _description),
            Route("/health", _health),
            Route("/ready", _ready),
            Route("/metrics", show_metrics),
            *openai.ROUTES,
            *page.ROUTES,
        ],
        exception_handlers={
            Refused: _on_refused,
            Refusing: _on_refusing,
            ValidationError: _on_invalid,
            HTTPException: _on_http,
            Gone: _on_gone,
            ClientDisconnect: _on_gone,
            Exception: _on_unforeseen,
        },
    )
    app.state.desk = desk
    app.state.shelf = page.Shelf()
    app.state.tokens = tokens
    app.state.sessions = Sessions()
    # A redirect would repeat the claimed address.
    app.router.redirect_slashes = False
    rules = Rules.of(settings, tokens, of_owner=of_owner, open=_OPEN)
    return Guard(app, rules, _refusing, metrics.count, app.state.sessions)


def _route_of(name: str) -> Callable[[Request], Any]:
    async def carry_out(request: Request) -> Response:
        call = await sent(request, WORK[name].takes)
        desk: GuardedDesk = request.app.state.desk
        if isinstance(call, AskCall):
            return JSONResponse((await desk.ask(request, call))["answer"])
        asked = adapter(type(call)).dump_json(call, exclude_defaults=True)
        note_of(request).asked = asked.decode()
        return Response(await desk.look_up(request, name, call), media_type="application/json")

    return carry_out


async def _corpora(request: Request) -> Response:
    desk: GuardedDesk = request.app.state.desk
    names = desk.corpora(note_of(request).holder)
    with noting(request):
        return JSONResponse({"corpora": await desk.desk.corpora(names)})


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _ready(request: Request) -> Response:
    """Whether a process looks things up, and there is a corpus."""
    desk: GuardedDesk = request.app.state.desk
    try:
        async with asyncio.timeout(_SOON):
            await desk.desk.ready()
    except TimeoutError:
        return JSONResponse({"ready": False}, 503)
    there = bool(desk.desk.session.corpora())
    return JSONResponse({"ready": there}, 200 if there else 503)


async def _on_refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    refusal = error.refusal
    status = 503 if refusal.transient else _STATUSES.get(refusal.code, 500)
    if status == 409 and request.url.path.startswith("/v1/"):
        status = 400  # Clients of OpenAI would try again.
    return _failure(request, status, refusal)


async def _on_refusing(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refusing)
    return _refusing(request, error)


def _refusing(request: Request, error: Refusing) -> Response:
    if error.status == 401 and request.method == "GET" and page.wants_page(request):
        return RedirectResponse("/sign-in", 303)
    reply = _failure(request, error.status, error.refusal)
    reply.headers.update(dict(error.headers))
    return reply


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, ValidationError)
    cause = _("The request does not fit: {problems}").format(problems=problems(error))
    cure = _("/openapi.json describes valid requests.")
    return _failure(request, 400, Refusal("UsageError", cause, cure, 2))


async def _on_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    cause = {
        404: _("There is nothing at this address."),
        405: _("The address does not take this method."),
    }.get(error.status_code, error.detail)
    refusal = Refusal("UsageError", cause, _("/openapi.json describes valid requests."), 2)
    reply = _failure(request, error.status_code, refusal)
    reply.headers.update(error.headers or {})
    return reply


async def _on_gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=_GONE)


async def _on_unforeseen(request: Request, _error: Exception) -> Response:
    cause = _("Unexpected error; the log of the server has it.")
    return _failure(request, 500, Refusal("Unforeseen", cause, "", 1))


def _failure(request: Request, status: int, refusal: Refusal) -> Response:
    if page.wants_page(request):
        return page.failure(request, status, refusal)
    return JSONResponse({"error": _error(request, refusal)}, status)


def _error(request: Request, refusal: Refusal) -> dict[str, object]:
    """The object of a failure; OpenAI defines `message`, `type`, `param` and `code`."""
    return {
        "message": str(refusal),
        "type": refusal.kind,
        "param": None,
        "code": refusal.kind,
        "cause": refusal.cause,
        "cure": refusal.cure,
        "request_id": note_of(request).id,
    }


_WORDS = ("message", "type", "code", "cause", "cure", "request_id")
_ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                **{name: {"type": "string"} for name in _WORDS},
                "param": {"type": ["string", "null"]},
            },
            "required": [*_WORDS, "param"],
        }
    },
    "required": ["error"],
}
_FAILURE = {"$ref": "#/components/schemas/Failure"}
_FAILURES = {
    "400": "The request does not fit.",
    "401": "The request has no valid token.",
    "403": "The request comes from a page of another site.",
    "404": "There is nothing of this name.",
    "408": "The request came too slowly.",
    "409": "The call fits and cannot be carried out: a citation can mean several provisions, say.",
    "413": "The request is too large.",
    "415": "The request is not JSON.",
    "429": "Too many calls wait; Retry-After says when to try again.",
    "502": "A model cannot be used.",
    "503": "A corpus or a model cannot be used at the moment.",
}


async def _description(_: Request) -> Response:
    return JSONResponse(description())


@cache
def description() -> dict[str, Any]:
    """The OpenAPI description of the JSON routes."""
    taken = {**{f"/{name}": work.takes for name, work in WORK.items()}, **openai.TAKES}
    given: dict[str, Any] = {
        **{f"/{name}": work.gives for name, work in WORK.items()},
        "/corpora": dict[str, list[CorpusJson]],
        **openai.GIVES,
    }
    kinds, schemas = TypeAdapter.json_schemas(
        [
            *((path, "validation", TypeAdapter(kind)) for path, kind in taken.items()),
            *((path, "serialization", TypeAdapter(kind)) for path, kind in given.items()),
        ],
        ref_template="#/components/schemas/{model}",
    )
    failures = {
        status: {"description": about, "content": {"application/json": {"schema": _FAILURE}}}
        for status, about in _FAILURES.items()
    }
    paths: dict[str, Any] = {}
    for path in given:
        content: dict[str, Any] = {"application/json": {"schema": kinds[path, "serialization"]}}
        if path in openai.STREAMED:
            content["text/event-stream"] = {}
        operation: dict[str, Any] = {
            "operationId": re.sub(r"\W+", "_", path).strip("_"),
            "responses": {"200": {"description": "Done.", "content": content}, **failures},
        }
        if named := re.findall(r"{(\w+)}", path):
            operation["parameters"] = [
                {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
                for name in named
            ]
        if path in taken:
            operation["summary"] = str(taken[path].__doc__)
            operation["requestBody"] = {
                "required": True,
                "content": {"application/json": {"schema": kinds[path, "validation"]}},
            }
        paths[path] = {"post" if path in taken else "get": operation}
    return {
        "openapi": "3.1.0",
        "info": {"title": "localrag", "version": __version__},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": {**schemas.get("$defs", {}), "Failure": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
