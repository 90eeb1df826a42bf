"""What every client here does with every probe server behind the hub. tests/interop/README.md says what
a probe server offers. A client brings an adapter: an object with the methods that are called on it here."""

import asyncio
import os
import sys

LIMIT_S = 30  # a check that takes longer has failed
START_S = 120  # until all servers behind the hub are there

TOOLS = ["ask_model", "ask_name", "ask_roots", "cancelled", "echo", "fail", "grow", "hang", "progress", "shrink"]
MANY = 20


def same(got, wanted):
    assert got == wanted, f"got {got!r}, wanted {wanted!r}"


async def until(fact):
    """Asks the hub again until the answer is yes; the caller's time limit ends it."""
    while not await fact():
        pass


class Report:
    def __init__(self, label):
        self.label, self.failed = label, 0

    async def check(self, what, run, limit=LIMIT_S):
        try:
            async with asyncio.timeout(limit):
                await run()
            print(f"ok - {self.label} {what}", flush=True)
        except BaseException as e:  # also cancellation that an SDK let loose
            if isinstance(e, KeyboardInterrupt):
                raise
            self.failed += 1
            for line in f"{type(e).__name__}: {e}".splitlines():
                print(f"# {line}")
            print(f"not ok - {self.label} {what}", flush=True)


async def answer_form(message):
    """What the person says: no, when the question says so."""
    return None if "decline" in message else {"name": "Ada"}


MODEL_SAYS = "Paris"
ROOT = "file:///srv/interop"


async def tools(c, s):
    mine = sorted(n.removeprefix(s + "__") for n in await c.tools() if n.startswith(s + "__"))
    same(mine, TOOLS)


async def call(c, s):
    same(await c.call(f"{s}__echo", {"text": "häuser ✓"}), ("echo: häuser ✓", False))


async def many(c, s):
    got = await asyncio.gather(*(c.call(f"{s}__echo", {"text": str(i)}) for i in range(MANY)))
    same(got, [(f"echo: {i}", False) for i in range(MANY)])


async def fails(c, s):
    text, is_error = await c.call(f"{s}__fail", {})
    assert is_error, "the result is no error"
    assert "it failed" in text, text


async def unknown(c, s):
    try:
        _, is_error = await c.call(f"{s}__no_such_tool", {})
    except Exception as e:
        assert "no_such_tool" in str(e), str(e)
    else:
        assert is_error, "a tool that does not exist answered"


async def progress(c, s):
    seen, all_seen = [], asyncio.Event()

    async def note(progress, total, message):
        seen.append((progress, total, message))
        if len(seen) == 3:
            all_seen.set()

    same(await c.call(f"{s}__progress", {"steps": 3}, note), ("done", False))
    await all_seen.wait()
    same(seen, [(i, 3, f"step {i}") for i in (1, 2, 3)])


async def cancel(c, s):
    before = int((await c.call(f"{s}__cancelled", {}))[0])
    hung = asyncio.create_task(c.call(f"{s}__hang", {}, c.ignore_progress))
    await c.begun(hung)
    hung.cancel()
    await asyncio.wait([hung])
    assert hung.cancelled() or hung.exception(), "the call was answered"

    async def told():
        return int((await c.call(f"{s}__cancelled", {}))[0]) == before + 1

    await until(told)


async def form(c, s):
    same(await c.call(f"{s}__ask_name", {"message": "who?"}), ("hello Ada", False))


async def form_declined(c, s):
    same(await c.call(f"{s}__ask_name", {"message": "please decline"}), ("declined", False))


async def sampling(c, s):
    same(await c.call(f"{s}__ask_model", {}), (f"model: {MODEL_SAYS}", False))


async def roots(c, s):
    same(await c.call(f"{s}__ask_roots", {}), (f"roots: {ROOT}", False))


async def resources(c, s):
    fixed = f"probe://{s}/fixed"
    assert fixed in await c.resources(), "the resource is not listed"
    same(await c.read(fixed), "fixed text")
    assert f"probe://{s}/item/{{id}}" in await c.templates(), "the template is not listed"
    same(await c.read(f"probe://{s}/item/7"), "item 7")


async def no_resource(c, s):
    try:
        await c.read(f"probe://{s}/nowhere")
    except Exception as e:
        assert str(e), "an error without words"
    else:
        raise AssertionError("a resource that does not exist was read")


async def prompts(c, s):
    assert f"{s}__greet" in await c.prompts(), "the prompt is not listed"
    same(await c.prompt(f"{s}__greet", {"name": "Ada"}), "Greet Ada")


async def list_changed(c, s):
    async with c.hears_tools_changed() as heard:
        await c.call(f"{s}__grow", {})

        async def grown():
            await heard()
            return f"{s}__grown" in await c.tools()

        await until(grown)
        same(await c.call(f"{s}__grown", {}), ("I am new", False))
        await c.call(f"{s}__shrink", {})

        async def gone():
            await heard()
            return f"{s}__grown" not in await c.tools()

        await until(gone)


CHECKS = {
    "tools": tools,
    "call": call,
    "many calls": many,
    "error result": fails,
    "unknown tool": unknown,
    "progress": progress,
    "cancel": cancel,
    "elicitation": form,
    "elicitation declined": form_declined,
    "sampling": sampling,
    "roots": roots,
    "resources": resources,
    "unknown resource": no_resource,
    "prompts": prompts,
    "list_changed": list_changed,
}


async def act_out(sdk, connect):
    """connect(transport, era) gives an adapter, as an async context manager."""
    transport, era = os.environ["INTEROP_TRANSPORT"], os.environ["INTEROP_ERA"]
    servers = os.environ["INTEROP_SERVERS"].split()
    report = Report(f"{sdk} client, {era}, {transport}:")
    try:
        async with connect(transport, era) as c:

            async def version():
                same(c.version() >= "2026", era == "modern")

            missing = servers

            async def all_there():
                nonlocal missing
                names = await c.tools()
                missing = [s for s in servers if f"{s}__echo" not in names]
                return not missing

            await report.check("era", version)
            try:
                async with asyncio.timeout(START_S):
                    await until(all_there)
            except TimeoutError:
                raise AssertionError(f"not there: {' '.join(missing)}") from None
            for s in servers:
                for what, run in CHECKS.items():
                    await report.check(f"{s}: {what}", lambda: run(c, s))
    except Exception as e:
        print(f"# {type(e).__name__}: {e}\nnot ok - {report.label} connects, stays and ends", flush=True)
        sys.exit(1)
    print(f"ok - {report.label} connects, stays and ends", flush=True)
    sys.exit(report.failed > 0)


class Began:
    """Knows when a call is under way: its server told a first progress."""

    def __init__(self):
        self.event = asyncio.Event()

    async def ignore_progress(self, *_):
        self.event.set()

    async def begun(self, task):
        waits = asyncio.create_task(self.event.wait())
        await asyncio.wait([task, waits], return_when=asyncio.FIRST_COMPLETED)
        waits.cancel()
        if task.done():
            task.result()
            raise AssertionError("the call ended before it was cancelled")
        self.event.clear()


def hub_command():
    """What a client runs to have a hub of its own on stdio."""
    return os.environ["PATCHBAY"], ["mcp", "--standalone", "--config", os.environ["INTEROP_CONFIG"]], dict(os.environ)


def hub_url():
    return os.environ["INTEROP_URL"], os.environ["INTEROP_TOKEN"]


class Heard(asyncio.Queue):
    """Notifications that tools changed. heard() waits for one or more."""

    async def __call__(self):
        await self.get()
        while not self.empty():
            self.get_nowait()
