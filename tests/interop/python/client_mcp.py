"""The official Python SDK as client of the hub."""

import asyncio
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent, ToolListChangedNotification

from scenario import MODEL_SAYS, ROOT, Began, Heard, act_out, answer_form, hub_command, hub_url


def text_of(content):
    return "\n".join(c.text for c in content if c.type == "text")


class Adapter(Began):
    def __init__(self, client, changes):
        super().__init__()
        self.client, self.changes = client, changes

    def version(self):
        return self.client.protocol_version

    async def tools(self):
        return [t.name for t in (await self.client.list_tools(cache_mode="bypass")).tools]

    async def call(self, name, arguments, progress=None):
        r = await self.client.call_tool(name, arguments, progress_callback=progress)
        return text_of(r.content), bool(r.is_error)

    async def resources(self):
        return [str(r.uri) for r in (await self.client.list_resources()).resources]

    async def templates(self):
        return [t.uri_template for t in (await self.client.list_resource_templates()).resource_templates]

    async def read(self, uri):
        return (await self.client.read_resource(uri)).contents[0].text

    async def prompts(self):
        return [p.name for p in (await self.client.list_prompts()).prompts]

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    @asynccontextmanager
    async def hears_tools_changed(self):
        if self.version() < "2026":
            self.changes = Heard()
            yield self.changes
        else:
            async with self.client.listen(tools_list_changed=True) as sub:
                yield lambda: anext(sub)


@asynccontextmanager
async def connect(transport, era):
    adapter = None

    async def form(_, params):
        content = await answer_form(params.message)
        return ElicitResult(action="accept", content=content) if content else ElicitResult(action="decline")

    async def sample(_, params):
        return CreateMessageResult(role="assistant", model="test", content=TextContent(type="text", text=MODEL_SAYS))

    async def roots(_):
        return ListRootsResult(roots=[Root(uri=ROOT, name="srv")])

    async def message(m):
        if isinstance(m, ToolListChangedNotification) and adapter and adapter.changes is not None:
            adapter.changes.put_nowait(m)

    options = dict(
        mode="auto" if era == "modern" else "legacy",
        elicitation_callback=form,
        sampling_callback=sample,
        list_roots_callback=roots,
        message_handler=message,
    )
    if transport == "stdio":
        command, args, env = hub_command()
        server = StdioServerParameters(command=command, args=args, env=env)
        async with Client(server, **options) as client:
            adapter = Adapter(client, None)
            yield adapter
    else:
        url, token = hub_url()
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
            async with Client(streamable_http_client(url, http_client=http), **options) as client:
                adapter = Adapter(client, None)
                yield adapter


asyncio.run(act_out("mcp (Python)", connect))
