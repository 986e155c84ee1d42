"""The Model Context Protocol: localrag as tools and resources of an agent (``localrag mcp``).

Each call is a tool with the JSON of the command line, cut to what an agent can read. The tool
`more` continues after a cut. A provision is a resource.
"""

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from localrag import __version__
from localrag.corpus.config import ServeConfig
from localrag.doors.as_json.found import CorpusJson
from localrag.doors.calls import OR_NULL, WHOLE, AskCall, ShowCall, adapter, problems
from localrag.doors.serve.desk import Desk, Refused
from localrag.doors.serve.entrance import LOG, Guard, Refusing, Rules, note_of
from localrag.doors.serve.fitting import CutJson, RestJson, fitted, rest
from localrag.doors.serve.holders import Holder, Tokens, allowed
from localrag.doors.serve.listening import LOOPBACK, Door, configured, ended_in_order, opened_door
from localrag.doors.serve.work import WORK, Refusal
from localrag.doors.session import Session
from localrag.language import _
from localrag.text.harmless import json_text, one_line

_AT = "/mcp"
_PROVISION = UriTemplate.parse("localrag://provision/{corpus}/{id}{?as_of}")
_CORPORA, _MORE = "corpora", "more"
_JSON = "application/json"
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_INSTRUCTIONS = (
    "Japanese statutes and other texts on this machine. Search, then show what was found by its "
    "id; show or resolve a citation as it is typed; check what you have written. Cite by document, "
    "locator and state as the results give them; quotations are verbatim. A result that is longer "
    "than its `characters` is cut: its `cut` says where, and the tool `more` goes on there. Where "
    "an error names a command (localrag show …), the tool of that name does the same."
)
# Seconds until an idle connection is closed.
_KEPT_OPEN = 75

_Characters = Annotated[
    int,
    Field(
        ge=1_000,
        le=1_000_000,
        description="Characters of the result at most; what is cut stands in its `cut`.",
    ),
    WHOLE,
    OR_NULL,
]


class _ToolFields(BaseModel):
    """Further fields of every tool."""

    model_config = ConfigDict(frozen=True, strict=True)

    # About 3,000 tokens of Japanese text and JSON.
    characters: _Characters = 6_000


class MoreCall(_ToolFields):
    """Go on reading what a result has cut, from an entry or a character on."""

    model_config = ConfigDict(extra="forbid")

    # `ask` would answer again, and differently.
    tool: Literal[
        "search", "show", "resolve", "history", "affected", "pending", "diff", "check"
    ] = Field(description="The tool that gave the result.")
    arguments: dict[str, Any] = Field(description="What it was called with.")
    part: str = Field(
        max_length=200,
        description="The part to read, as `cut` names it, with a number for each *: "
        "referred_by, passage.text, hits.0.passage.text.",
    )
    start: Annotated[int, Field(ge=0), WHOLE, OR_NULL] = Field(
        0, description="The first entry, or character, that is given; counted from 0."
    )


_Context = ServerRequestContext[Any, Any]


def serve_stdio(session: Session) -> None:
    """Speak the protocol on standard input and output, until the client closes them."""

    async def speak() -> None:
        async with Desk(session) as desk, stdio_server() as (incoming, outgoing):
            server = server_of(desk)
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(speak)


def serve_http(
    session: Session, port: int, on_start: Callable[[str, str], None], socket: Path | None = None
) -> None:
    """Speak the protocol over HTTP, at ``/mcp``, on this machine alone.

    `port` is one of the loopback address, with tokens, 0 for any free one. For the others and the
    errors see `localrag.doors.serve.http.serve`.
    """
    settings = session.config().serve.model_copy(update={"host": LOOPBACK, "proxy": ""})
    tokens = Tokens(session.workspace.tokens)

    async def speak(door: Door) -> None:
        async with Desk(session) as desk:
            config = configured(
                application(desk, settings, tokens, of_owner=socket is not None),
                door,
                settings,
                proxy_headers=False,
                timeout_keep_alive=_KEPT_OPEN,
            )
            on_start(door.address("http", _AT), made)
            await uvicorn.Server(config).serve(sockets=[door.listening])

    with opened_door(LOOPBACK, port, socket) as door, ended_in_order():
        made = tokens.started() if socket is None and not tokens else ""
        anyio.run(speak, door)


def application(
    desk: Desk, settings: ServeConfig, tokens: Tokens, *, of_owner: bool = False
) -> ASGIApp:
    """The protocol over HTTP, behind the guard; for `tokens` and `of_owner` see `Rules`."""
    # The guard checks names and sizes.
    unchecked = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    app = server_of(desk).streamable_http_app(
        streamable_http_path=_AT, transport_security=unchecked
    )
    app.add_middleware(_OfHolder)
    app.add_exception_handler(Refusing, _refusing)
    app.router.redirect_slashes = False
    rules = Rules.of(settings, tokens, of_owner=of_owner)
    return Guard(app, rules, _refusing, _uncounted)


class _OfHolder:
    """Names the client to the protocol: only the client that began a session may use it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            name = note_of(Request(scope)).holder.name
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        await self._app(scope, receive, send)


def _refusing(_request: Request, refusing: Exception) -> Response:
    assert isinstance(refusing, Refusing)
    return JSONResponse({"error": str(refusing.refusal)}, refusing.status, dict(refusing.headers))


def _uncounted(_route: str, _status: int, _seconds: float) -> None:
    """An agent's server has no metrics."""


def server_of(desk: Desk) -> Server[Any]:
    """The protocol for an open desk."""
    return Server(
        "localrag",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=partial(_call_tool, desk),
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=partial(_read_resource, desk),
    )


async def _list_tools(_: _Context, __: PaginatedRequestParams | None) -> ListToolsResult:
    return ListToolsResult(tools=list(_tools()))


@cache
def _tools() -> tuple[Tool, ...]:
    calls = (
        _tool(name, work.about, work.takes, _schema(work.gives)) for name, work in WORK.items()
    )
    corpora = _tool(
        _CORPORA,
        "List the corpora there are, with what they hold.",
        None,
        _schema(dict[str, list[CorpusJson]]),
    )
    return (*calls, corpora, _tool(_MORE, str(MoreCall.__doc__), MoreCall, _schema(RestJson)))


def _tool(name: str, about: str, takes: type | None, output_schema: dict[str, Any]) -> Tool:
    every = _ToolFields.model_json_schema(schema_generator=_Plain)["properties"]
    own: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    if takes is not None:
        own = adapter(takes).json_schema(schema_generator=_Plain)
        del own["title"], own["description"]
    return Tool(
        name=name,
        description=about,
        input_schema={**own, "properties": {**own["properties"], **every}},
        output_schema=output_schema,
        annotations=_READS,
    )


class _Plain(GenerateJsonSchema):
    """Schemas for models: without titles, and optional fields are never null.

    Some clients send a text for a nullable number.
    """

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        made = super().default_schema(schema)
        if made.get("default", ...) is None:
            del made["default"]
        return made

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002 - none is
        return False


def _schema(kind: Any) -> dict[str, Any]:
    made, cut = TypeAdapter(kind).json_schema(), TypeAdapter(list[CutJson]).json_schema()
    return {
        # A union of objects is an object too; older clients need the word.
        "type": "object",
        **made,
        "properties": {**made.get("properties", {}), "cut": cut},
        "$defs": {**made.get("$defs", {}), **cut.pop("$defs")},
    }


async def _call_tool(desk: Desk, context: _Context, asked: CallToolRequestParams) -> CallToolResult:
    given = dict(asked.arguments or {})
    holder = _holder(context)
    try:
        if asked.name == _MORE:
            return await _go_on(desk, holder, MoreCall.model_validate_json(json.dumps(given)))
        bounds = {name: given.pop(name) for name in _ToolFields.model_fields if name in given}
        most = _ToolFields.model_validate_json(json.dumps(bounds)).characters
        if asked.name == _CORPORA:
            found = await desk.corpora(holder.allowed(desk.session.corpora()))
            return _told(fitted({"corpora": found}, most))
        if asked.name not in WORK:
            raise MCPError(INVALID_PARAMS, _("There is no tool {name!r}.").format(name=asked.name))
        call = adapter(WORK[asked.name].takes).validate_json(json.dumps(given))
        call = allowed(desk, holder, call)
        if isinstance(call, AskCall) and desk.writes(call):
            return await _answer(desk, context, call, most)
        return _told(fitted(json.loads(await desk.carry_out(asked.name, call, holder.name)), most))
    except ValidationError as error:
        return _problem(_invalid(error))
    except Refused as refused:
        _note(context, refused.refusal)
        return _problem(refused.refusal)
    except MCPError:
        raise
    except Exception:  # noqa: BLE001 - its words are for the log, and for no client
        LOG.exception("%s", asked.name)
        return _problem(_unforeseen())


def _unforeseen() -> Refusal:
    return Refusal("Unforeseen", _("Unexpected error; the log of the server has it."), "", 1)


def _holder(context: _Context) -> Holder:
    return Holder() if context.request is None else note_of(context.request).holder


def _note(context: _Context, refusal: Refusal) -> None:
    if context.request is not None:
        note_of(context.request).problem = refusal.within
    elif refusal.within:
        LOG.warning("%s", one_line(refusal.within))


async def _go_on(desk: Desk, holder: Holder, asked: MoreCall) -> CallToolResult:
    given = {
        name: of for name, of in asked.arguments.items() if name not in _ToolFields.model_fields
    }
    call = adapter(WORK[asked.tool].takes).validate_json(json.dumps(given))
    call = allowed(desk, holder, call)
    whole = json.loads(await desk.carry_out(asked.tool, call, holder.name))
    try:
        return _told(rest(whole, asked.part, asked.start, asked.characters))
    except LookupError:
        cause = _("The result has no list or text {part!r}.").format(part=asked.part)
        cure = _("There is: {known}.").format(known=", ".join(whole))
        return _problem(Refusal("NotFoundError", cause, cure, 3))


def _invalid(error: ValidationError) -> Refusal:
    return Refusal("UsageError", problems(error), "", 2)


async def _answer(desk: Desk, context: _Context, call: AskCall, most: int) -> CallToolResult:
    """Answer with a model, and report each step to the client."""
    steps, heard = anyio.create_memory_object_stream[str](1_000)

    def tell(words: str) -> None:
        if steps.statistics().current_buffer_used < steps.statistics().max_buffer_size:
            steps.send_nowait(words)

    async def report() -> None:
        done = 0
        async with heard:
            async for words in heard:
                done += 1
                await context.session.report_progress(done, None, words)

    async with anyio.create_task_group() as tasks, steps:
        tasks.start_soon(report)
        try:
            answer = (await desk.ask(call, tell))["answer"]
            result = _told(fitted({**answer}, most))
        except Refused as refused:
            _note(context, refused.refusal)
            result = _problem(refused.refusal)
    return result


def _told(value: dict[str, Any]) -> CallToolResult:
    text = json_text(value)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=value)


def _problem(refusal: Refusal) -> CallToolResult:
    text = f"{refusal.kind}: {refusal}"
    return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)


async def _list_resources(_: _Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
    # There are tens of thousands: search finds them.
    return ListResourcesResult(resources=[])


async def _list_templates(
    _: _Context, __: PaginatedRequestParams | None
) -> ListResourceTemplatesResult:
    provision = ResourceTemplate(
        name="provision",
        uri_template=str(_PROVISION),
        description="A provision, or another passage, by the id that searches give, and its ties.",
        mime_type=_JSON,
    )
    return ListResourceTemplatesResult(resource_templates=[provision])


async def _read_resource(
    desk: Desk, context: _Context, asked: ReadResourceRequestParams
) -> ReadResourceResult:
    uri = str(asked.uri)
    named = _PROVISION.match(uri)
    if named is None:
        raise MCPError(INVALID_PARAMS, _("There is no resource {uri!r}.").format(uri=uri))
    given = {name: value for name, value in named.items() if name != "id"}
    try:
        given["citation"] = named["id"]
        call = adapter(ShowCall).validate_json(json.dumps(given))
        call = allowed(desk, _holder(context), call)
        text = (await desk.carry_out("show", call)).decode()
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, problems(error)) from error
    except Refused as refused:
        _note(context, refused.refusal)
        raise MCPError(INVALID_PARAMS, str(refused)) from refused
    except Exception as error:
        LOG.exception("%s", "show")
        raise MCPError(INTERNAL_ERROR, str(_unforeseen())) from error
    content = TextResourceContents(uri=asked.uri, mime_type=_JSON, text=text)
    return ReadResourceResult(contents=[content])
