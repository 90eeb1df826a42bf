"""The official Python SDK as a probe server. server_mcp.py NAME [PORT]"""

import sys
from typing import Annotated

import anyio
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Elicit, ListRoots, MCPServer, Resolve, Sample
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CreateMessageResult, ListRootsResult, SamplingMessage, TextContent
from pydantic import BaseModel

name = sys.argv[1]
server = MCPServer(name)
cancels = 0


class Person(BaseModel):
    name: str


# A resolver asks in the way of either era: by a request of its own, or in the result.
def who(message: str) -> Elicit[Person]:
    return Elicit(message, Person)


def capital() -> Sample:
    question = TextContent(type="text", text="The capital of France?")
    return Sample([SamplingMessage(role="user", content=question)], max_tokens=10)


def where() -> ListRoots:
    return ListRoots()


@server.tool()
def echo(text: str) -> str:
    return f"echo: {text}"


@server.tool()
def fail() -> str:
    raise ToolError("it failed")


@server.tool()
async def progress(steps: int, ctx: Context) -> str:
    for i in range(1, steps + 1):
        await ctx.report_progress(i, steps, f"step {i}")
    return "done"


@server.tool()
async def hang(ctx: Context) -> str:
    global cancels
    await ctx.report_progress(0, 1, "begun")
    try:
        await anyio.sleep_forever()
    finally:
        cancels += 1


@server.tool()
def cancelled() -> str:
    return str(cancels)


@server.tool()
def ask_name(message: str, answer: Annotated[ElicitationResult[Person], Resolve(who)]) -> str:
    return f"hello {answer.data.name}" if isinstance(answer, AcceptedElicitation) else "declined"


@server.tool()
def ask_model(answer: Annotated[CreateMessageResult, Resolve(capital)]) -> str:
    return f"model: {answer.content.text}"


@server.tool()
def ask_roots(answer: Annotated[ListRootsResult, Resolve(where)]) -> str:
    return "roots: " + " ".join(str(r.uri) for r in answer.roots)


def grown() -> str:
    return "I am new"


async def tell(ctx: Context):
    """Tells whoever listens (new era), and this session (old era)."""
    await ctx.notify_tools_changed()
    if ctx.protocol_version < "2026":
        await ctx.session.send_tool_list_changed()


@server.tool()
async def grow(ctx: Context) -> str:
    server.add_tool(grown)
    await tell(ctx)
    return "grown"


@server.tool()
async def shrink(ctx: Context) -> str:
    server.remove_tool("grown")
    await tell(ctx)
    return "shrunk"


@server.resource(f"probe://{name}/fixed", mime_type="text/plain")
def fixed() -> str:
    return "fixed text"


@server.resource(f"probe://{name}/item/{{id}}", mime_type="text/plain")
def item(id: str) -> str:
    return f"item {id}"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}"


if len(sys.argv) > 2:
    server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
else:
    server.run("stdio")
