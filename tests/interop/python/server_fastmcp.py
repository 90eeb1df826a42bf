"""fastmcp as a probe server. server_fastmcp.py NAME [PORT]"""

import sys

import anyio
from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from mcp import types
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

name = sys.argv[1]
server = FastMCP(name)
cancels = 0


class Person(BaseModel):
    name: str


def modern(ctx):
    return ctx.request_context.protocol_version in MODERN_PROTOCOL_VERSIONS


def asks(request):
    return types.InputRequiredResult(input_requests={"q": request})


@server.tool
def echo(text: str) -> str:
    return f"echo: {text}"


@server.tool
def fail() -> str:
    raise ToolError("it failed")


@server.tool
async def progress(steps: int, ctx: Context) -> str:
    for i in range(1, steps + 1):
        await ctx.report_progress(i, steps, f"step {i}")
    return "done"


@server.tool
async def hang(ctx: Context) -> str:
    global cancels
    await ctx.report_progress(0, 1, "begun")
    try:
        await anyio.sleep_forever()
    finally:
        cancels += 1


@server.tool
def cancelled() -> str:
    return str(cancels)


@server.tool
async def ask_name(message: str, ctx: Context) -> str | types.InputRequiredResult:
    if modern(ctx):
        if not ctx.input_responses:
            schema = Person.model_json_schema()
            params = types.ElicitRequestFormParams(message=message, requested_schema=schema)
            return asks(types.ElicitRequest(params=params))
        answer = ctx.input_responses["q"]
        return f"hello {answer.content['name']}" if answer.action == "accept" else "declined"
    answer = await ctx.elicit(message, Person)
    return f"hello {answer.data.name}" if answer.action == "accept" else "declined"


@server.tool
async def ask_model(ctx: Context) -> str | types.InputRequiredResult:
    question = types.SamplingMessage(role="user", content=types.TextContent(type="text", text="The capital of France?"))
    if modern(ctx):
        if not ctx.input_responses:
            params = types.CreateMessageRequestParams(messages=[question], max_tokens=10)
            return asks(types.CreateMessageRequest(params=params))
        answer = ctx.input_responses["q"]
    else:
        answer = await ctx.session.create_message([question], max_tokens=10, related_request_id=ctx.request_id)
    return f"model: {answer.content.text}"


@server.tool
async def ask_roots(ctx: Context) -> str | types.InputRequiredResult:
    if modern(ctx):
        if not ctx.input_responses:
            return asks(types.ListRootsRequest())
        answer = ctx.input_responses["q"]
    else:
        answer = await ctx.session.list_roots()
    return "roots: " + " ".join(str(r.uri) for r in answer.roots)


def grown() -> str:
    return "I am new"


@server.tool
async def grow(ctx: Context) -> str:
    server.tool(grown)
    await ctx.send_notification(types.ToolListChangedNotification())
    return "grown"


@server.tool
async def shrink(ctx: Context) -> str:
    server.local_provider.remove_tool("grown")
    await ctx.send_notification(types.ToolListChangedNotification())
    return "shrunk"


@server.resource(f"probe://{name}/fixed", mime_type="text/plain")
def fixed() -> str:
    return "fixed text"


@server.resource(f"probe://{name}/item/{{id}}", mime_type="text/plain")
def item(id: str) -> str:
    return f"item {id}"


@server.prompt
def greet(name: str) -> str:
    return f"Greet {name}"


if len(sys.argv) > 2:
    server.run("http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
else:
    server.run("stdio", show_banner=False)
