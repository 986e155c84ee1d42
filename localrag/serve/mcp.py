"""The Model Context Protocol: localrag as tools and resources of an agent (``localrag mcp``).

A tool for each call, with the JSON of the command line as its result, in the text and structured;
a provision by its address as a resource. What cannot be done is a result that says so.
"""

import json
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import anyio
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.uri_template import UriTemplate
from mcp_types import (
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
from pydantic import TypeAdapter, ValidationError

from localrag import __version__
from localrag.as_json.found import CorpusJson
from localrag.language import _
from localrag.serve.calls import WORK, AskCall, ShowCall, told
from localrag.serve.desk import Desk, Refused
from localrag.session import Session

_PROVISION = UriTemplate.parse("localrag://provision/{corpus}/{id}{?as_of}")
_CORPORA = "corpora"
_JSON = "application/json"
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_INSTRUCTIONS = (
    "Japanese statutes and other texts on this machine. Cite by document, locator and state as "
    "the results give them; quotations are verbatim. A citation can be resolved before it is shown."
)

_Context = ServerRequestContext[Any, Any]


def serve_stdio(session: Session) -> None:
    """Speak the protocol on standard input and output, until the client closes them."""

    async def speak() -> None:
        async with Desk(session) as desk, stdio_server() as (incoming, outgoing):
            server = server_of(desk)
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(speak)


def serve_http(session: Session, port: int, on_start: Callable[[], None]) -> None:
    """Speak it over HTTP, at ``/mcp``, to programs of this machine alone.

    Args:
        session: the workspace and the settings.
        port: on the loopback address.
        on_start: called before the first connection.
    """

    async def speak() -> None:
        async with Desk(session) as desk:
            app = server_of(desk).streamable_http_app(host="127.0.0.1")
            config = uvicorn.Config(app, "127.0.0.1", port, log_config=None, access_log=False)
            on_start()
            await uvicorn.Server(config).serve()

    anyio.run(speak)


def server_of(desk: Desk) -> Server[Any]:
    """The protocol's side of a desk, which is open as long as it is used."""
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
    tools = (
        Tool(
            name=name,
            description=work.about,
            input_schema=work.takes.model_json_schema(by_alias=True),
            output_schema=_schema(work.gives),
            annotations=_READS,
        )
        for name, work in WORK.items()
    )
    corpora = Tool(
        name=_CORPORA,
        description="List the corpora there are, with what they hold.",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        output_schema=_schema(dict[str, list[CorpusJson]]),
        annotations=_READS,
    )
    return (*tools, corpora)


def _schema(kind: Any) -> dict[str, Any]:
    # What can be one of several objects is an object, too; older clients look for the word.
    return {"type": "object", **TypeAdapter(kind).json_schema()}


async def _call_tool(desk: Desk, context: _Context, asked: CallToolRequestParams) -> CallToolResult:
    given = asked.arguments or {}
    try:
        if asked.name == _CORPORA:
            return _result({"corpora": await desk.corpora(desk.session.corpora())})
        if asked.name not in WORK:
            raise MCPError(INVALID_PARAMS, _("There is no tool {name!r}.").format(name=asked.name))
        call = WORK[asked.name].takes.model_validate_json(json.dumps(given))
        if isinstance(call, AskCall) and desk.writes(call):
            return await _answer(desk, context, call)
        return _result(json.loads(await desk.carry_out(asked.name, call)))
    except ValidationError as error:
        return _problem(told(error))
    except Refused as refused:
        return _problem(str(refused))


async def _answer(desk: Desk, context: _Context, call: AskCall) -> CallToolResult:
    """Answer with a model, and tell the client meanwhile what is done."""
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
            result = _result((await desk.ask(call, tell))["answer"])
        except Refused as refused:
            result = _problem(str(refused))
    return result


def _result(value: Any) -> CallToolResult:
    text = json.dumps(value, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=value)


def _problem(words: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text=words)], is_error=True)


async def _list_resources(_: _Context, __: PaginatedRequestParams | None) -> ListResourcesResult:
    # There are tens of thousands: they are found by search.
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
    desk: Desk, _context: _Context, asked: ReadResourceRequestParams
) -> ReadResourceResult:
    uri = str(asked.uri)
    named = _PROVISION.match(uri)
    if named is None:
        raise MCPError(INVALID_PARAMS, _("There is no resource {uri!r}.").format(uri=uri))
    given = {name: value for name, value in named.items() if name != "id"}
    try:
        call = ShowCall.model_validate_json(json.dumps({**given, "citation": named["id"]}))
        text = (await desk.carry_out("show", call)).decode()
    except ValidationError as error:
        raise MCPError(INVALID_PARAMS, told(error)) from error
    except Refused as refused:
        raise MCPError(INVALID_PARAMS, str(refused)) from refused
    content = TextResourceContents(uri=asked.uri, mime_type=_JSON, text=text)
    return ReadResourceResult(contents=[content])
