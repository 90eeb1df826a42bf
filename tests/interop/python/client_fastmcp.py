"""fastmcp as client of the hub."""

import asyncio
from contextlib import asynccontextmanager

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from mcp.client.subscriptions import listen
from mcp.types import ToolListChangedNotification

from scenario import MODEL_SAYS, ROOT, Began, Heard, act_out, answer_form, hub_command, hub_url


class Adapter(Began):
    def __init__(self, client):
        super().__init__()
        self.client, self.changes = client, None

    def version(self):
        return self.client.session.protocol_version

    async def tools(self):
        return [t.name for t in await self.client.list_tools()]

    async def call(self, name, arguments, progress=None):
        r = await self.client.call_tool(name, arguments, progress_handler=progress, raise_on_error=False)
        return "\n".join(c.text for c in r.content if c.type == "text"), r.is_error

    async def resources(self):
        return [str(r.uri) for r in await self.client.list_resources()]

    async def templates(self):
        return [t.uri_template for t in await self.client.list_resource_templates()]

    async def read(self, uri):
        return (await self.client.read_resource(uri))[0].text

    async def prompts(self):
        return [p.name for p in await self.client.list_prompts()]

    async def prompt(self, name, arguments):
        return (await self.client.get_prompt(name, arguments)).messages[0].content.text

    @asynccontextmanager
    async def hears_tools_changed(self):
        if self.version() < "2026":
            self.changes = Heard()
            yield self.changes
        else:  # fastmcp has no word of its own for this
            async with listen(self.client.session, tools_list_changed=True) as sub:
                yield lambda: anext(sub)


@asynccontextmanager
async def connect(transport, era):
    adapter = None

    async def form(message, response_type, params, context):
        content = await answer_form(message)
        return response_type(**content) if content else ElicitResult(action="decline")

    async def sample(messages, params, context):
        return MODEL_SAYS

    async def message(m):
        if isinstance(m, ToolListChangedNotification) and adapter and adapter.changes is not None:
            adapter.changes.put_nowait(m)

    if transport == "stdio":
        command, args, env = hub_command()
        hub = StdioTransport(command, args, env=env, keep_alive=False)
    else:
        url, token = hub_url()
        hub = StreamableHttpTransport(url, headers={"Authorization": f"Bearer {token}"})
    client = Client(
        hub,
        mode="auto" if era == "modern" else "legacy",
        roots=[ROOT],
        elicitation_handler=form,
        sampling_handler=sample,
        message_handler=message,
    )
    async with client:
        adapter = Adapter(client)
        yield adapter


asyncio.run(act_out("fastmcp", connect))
