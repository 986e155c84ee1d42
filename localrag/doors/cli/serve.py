"""The verbs `tui`, `mcp` and `serve`: the workbench, doors for other programs, and the web page."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated
from urllib.parse import urlencode

import typer

from localrag.doors.cli.main import app, verb
from localrag.doors.cli.options import CorpusName, Json
from localrag.doors.cli.start import open_workbench
from localrag.doors.cli.terminal import emit, say, tell
from localrag.doors.session import Session
from localrag.errors import UsageError, to_install
from localrag.language import N_, _


@verb(
    app,
    "tui",
    examples=["localrag tui", "localrag --lang ja tui"],
    exit_codes=(0, 2, 5, 7),
)
def tui(context: typer.Context) -> None:
    """F1 shows the keys of every screen. Conversations, choices and runs are saved at once, and
    survive a crash. A missing workspace is made.
    """
    session: Session = context.obj
    session.config()  # A wrong setting is reported before the first paint.
    open_workbench(session.workspace.home, session.overrides)


_MCP_PORT = 8081

SocketPath = Annotated[
    Path | None,
    typer.Option(
        "--socket",
        metavar="PATH",
        help="Listen on a Unix socket at this path, for your own account alone, instead of a port.",
        show_default=False,
    ),
]


@verb(
    app,
    "mcp",
    examples=[
        "localrag mcp",
        "localrag mcp --http --port 8081",
        "localrag mcp --http --socket ~/.localrag/mcp.sock",
    ],
    exit_codes=(0, 2, 5, 7, 130),
)
def mcp(
    context: typer.Context,
    http: Annotated[
        bool,
        typer.Option("--http", help="Listen on the loopback address, at /mcp, instead of stdin."),
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            metavar="PORT", min=0, max=65535, help="Port, with --http; else 8081. 0: any free."
        ),
    ] = None,
    socket: SocketPath = None,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Programs with this protocol (assistants, editors) start the verb themselves and use standard
    input and output. The tools search, show, resolve, history, diff, check, ask and corpora give
    the JSON of these verbs. A provision is a resource, by its id in search results.

    Nothing leaves the machine: with --http only programs of this machine can connect. On a port
    they need a token (localrag serve --add-token NAME). If there is none, the start makes one and
    shows it. At --socket only your own account can connect, without a token.
    """
    with _extra("mcp"):
        from localrag.doors.serve.mcp import serve_http, serve_stdio

    session: Session = context.obj
    session.workspace.require()
    session = session.with_settings({"corpus": corpus or None})
    if not http:
        if port is not None or socket is not None or as_json:
            raise UsageError(N_("--port, --socket and --json are for --http."), N_("Add --http."))
        serve_stdio(session)
        return
    _require_one_door(socket, port)
    _log_requests()

    def started(address: str, token: str) -> None:
        if as_json:
            emit({"address": address, "token": token})
        else:
            tell(_("listening at {address}").format(address=address))
            if token:
                tell(_("Clients send: Authorization: Bearer {token}").format(token=token))
                _tell_how_long()
        sys.stdout.flush()

    serve_http(session, _MCP_PORT if port is None else port, started, socket)


@verb(
    app,
    "serve",
    examples=[
        "localrag serve",
        "localrag serve --port 9000",
        "localrag serve --socket ~/.localrag/serve.sock",
        "localrag serve --add-token office --for main",
        "localrag --set serve.certificate=cert.pem --set serve.key=key.pem serve --host 0.0.0.0",
    ],
    exit_codes=(0, 2, 3, 5, 7, 130),
)
def serve(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Address to listen on; else serve.host."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(metavar="PORT", min=0, max=65535, help="Port; 0: any free port."),
    ] = None,
    socket: SocketPath = None,
    add_token: Annotated[
        str | None,
        typer.Option(
            "--add-token", metavar="NAME", help="Make a token, print it, and serve nothing."
        ),
    ] = None,
    for_: Annotated[
        list[str] | None,
        typer.Option("--for", metavar="CORPUS", help="With --add-token: only this corpus."),
    ] = None,
    corpus: CorpusName = "",
    as_json: Json = False,
) -> None:
    """Every client needs a token (--add-token NAME). If there is none, the start makes one: open
    the address shown, or send the token as Authorization: Bearer TOKEN. At --socket only your own
    account can connect, without a token.

    Only this machine can connect, unless serve.host is another address. Then TLS is needed, here
    (serve.certificate, serve.key) or by a proxy (serve.proxy).

    /search, /show, /resolve, /history, /diff, /check and /ask give the JSON of these verbs;
    /openapi.json describes them. For programs with the OpenAI protocol a corpus is a model,
    localrag/main. /health, /ready and /metrics are for the operator.

    Questions are not logged, unless serve.log_questions is set. docs/serve.md has the rest.
    """
    with _extra("serve"):
        from localrag.doors.serve import http
        from localrag.doors.serve.holders import Tokens

    session: Session = context.obj
    workspace = session.workspace.require()
    session = session.with_settings(
        {"serve.host": host, "serve.port": port, "corpus": corpus or None}
    )
    if add_token is not None:
        for name in filter(None, for_ or ()):
            session.corpus(name).require()
        token = Tokens(workspace.tokens).add(add_token, for_ or ())
        if as_json:
            emit({"name": add_token, "corpora": for_ or [], "token": token})
        else:
            say((token, "bold"))
            tell(_("It is shown once. A server that runs knows it after a new start."))
        return
    if for_:
        raise UsageError(N_("--for names the corpus of a token."), N_("Add --add-token NAME."))
    if corpus:
        session.corpus(corpus).require()
    _require_one_door(socket, host, port)
    _log_requests()

    def started(address: str, token: str) -> None:
        if as_json:
            emit({"address": address, "token": token})
        else:
            shown = f"{address}sign-in?{urlencode({'token': token})}" if token else address
            say(_("localrag is at "), (shown, "bold"))
            if token:
                _tell_how_long()
        sys.stdout.flush()

    http.serve(session, started, socket)


def _require_one_door(socket: Path | None, *of_port: object) -> None:
    if socket is not None and any(value is not None for value in of_port):
        raise UsageError(
            N_("A server listens on a port or on a socket, not on both."),
            N_("Leave --socket out, or --host and --port."),
        )


def _tell_how_long() -> None:
    tell(
        _(
            "Anyone with this token can read every corpus. It is valid until the server ends. One "
            "that lasts: localrag serve --add-token NAME"
        )
    )


@contextmanager
def _extra(extra: str) -> Iterator[None]:
    """Import the packages of an extra; raises UsageError if it is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise UsageError(
            N_("{package} is not installed."),
            to_install(extra),
            package=error.name,
        ) from error


def _log_requests() -> None:
    """Write the lines of the log to standard error, as they are."""
    import logging

    from localrag.doors.serve.entrance import LOG

    LOG.handlers = [logging.StreamHandler()]
    LOG.setLevel(logging.INFO)
    LOG.propagate = False
    # uvicorn would warn of every malformed request.
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
