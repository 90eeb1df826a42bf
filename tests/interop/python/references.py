"""The reference servers that are written in Python (git, time, fetch) behind the hub, asked by the official SDK.
fetch gets its pages from a web server of this program, on loopback."""

import asyncio
import os
import subprocess
import sys
import threading
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from scenario import START_S, Report, hub_command, hub_url, same, until

PAGE = b"<html><head><title>Harbour</title></head><body><article><h1>Harbour</h1><p>%s</p></article></body></html>" % (
    b"The ships come in at noon. " * 20
)


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        found = {"/robots.txt": (b"User-agent: *\nDisallow: /secret\n", "text/plain"), "/harbour": (PAGE, "text/html")}
        body, kind = found.get(self.path, (b"not here", "text/plain"))
        self.send_response(200 if self.path in found else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def text_of(result):
    assert not result.is_error, result.content
    return "\n".join(c.text for c in result.content if c.type == "text")


def repository():
    """A git repository with one commit and one changed file; INTEROP_REPO is where the hub's config says it is."""
    where = Path(os.environ["INTEROP_REPO"])
    where.mkdir(parents=True, exist_ok=True)
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false"]
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

    def run(*args):
        subprocess.run([*git, *args], cwd=where, env=env, check=True, stdout=subprocess.DEVNULL)

    if not (where / ".git").exists():
        run("init", "-q", "-b", "main")
        (where / "ships.txt").write_text("one\n")
        run("add", "ships.txt")
        run("commit", "-q", "-m", "The first ship")
        (where / "ships.txt").write_text("one\ntwo\n")
    return str(where)


async def main():
    transport, era = os.environ["INTEROP_TRANSPORT"], os.environ["INTEROP_ERA"]
    repo = repository()
    web = ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    pages = f"http://127.0.0.1:{web.server_port}"
    report = Report(f"reference servers, {era}, {transport}:")

    async def use(c):
        async def tools():
            names = {t.name for t in (await c.list_tools(cache_mode="bypass")).tools}
            return {"git__git_status", "git__git_log", "time__get_current_time", "time__convert_time", "fetch__fetch"} <= names

        async def status():
            got = text_of(await c.call_tool("git__git_status", {"repo_path": repo}))
            assert "ships.txt" in got, got

        async def log():
            got = text_of(await c.call_tool("git__git_log", {"repo_path": repo}))
            assert "The first ship" in got, got

        async def diff():
            got = text_of(await c.call_tool("git__git_diff_unstaged", {"repo_path": repo}))
            assert "+two" in got, got

        async def elsewhere():
            got = await c.call_tool("git__git_status", {"repo_path": "/"})
            assert got.is_error, got.content

        async def now():
            got = text_of(await c.call_tool("time__get_current_time", {"timezone": "UTC"}))
            assert datetime.now().strftime("%Y") in got and "UTC" in got, got

        async def convert():
            asked = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
            got = text_of(await c.call_tool("time__convert_time", asked))
            assert "21:00" in got, got

        async def page():
            got = text_of(await c.call_tool("fetch__fetch", {"url": pages + "/harbour"}))
            assert "The ships come in at noon." in got, got

        async def robots():
            got = await c.call_tool("fetch__fetch", {"url": pages + "/secret"})
            assert got.is_error and "robots" in got.content[0].text, got.content

        async def prompt():
            names = [p.name for p in (await c.list_prompts()).prompts]
            same(names, ["fetch__fetch"])
            got = await c.get_prompt("fetch__fetch", {"url": pages + "/harbour"})
            assert "The ships come in at noon." in got.messages[0].content.text, got

        async def there():
            await until(tools)

        await report.check("all servers are there", there, START_S)
        for what, run in {
            "git: status": status,
            "git: log": log,
            "git: diff": diff,
            "git: another directory is refused": elsewhere,
            "time: now": now,
            "time: convert": convert,
            "fetch: a page": page,
            "fetch: what robots.txt forbids": robots,
            "fetch: its prompt": prompt,
        }.items():
            await report.check(what, run)

    mode = "auto" if era == "modern" else "legacy"
    if transport == "stdio":
        command, args, env = hub_command()
        async with Client(StdioServerParameters(command=command, args=args, env=env), mode=mode) as client:
            await use(client)
    else:
        url, token = hub_url()
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
            async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
                await use(client)
    sys.exit(report.failed > 0)


asyncio.run(main())
