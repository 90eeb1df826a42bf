#!/usr/bin/env python3
"""The README, run: each line of each of its blocks of commands, its entry for a client, its program in C.

What differs from what a reader does, and nothing else does:
- The line that installs the package is held against the version, and not run: that is done by
  `make test-packages`. The programs that were built stand first in PATH in its stead.
- `npx` is a script that starts the same package from tests/interop, where npm has put it already.
- `patchbay serve` is given `--port 0`, because somebody may use the port. What runs until it is stopped is
  stopped when it has said what it should.
- `make` is asked whether it knows what to do (`make -n`): making it all is what led here.

`test_readme.py --print first-minute` prints the lines of the first block for a shell elsewhere, `program`
the program in C, `compile` the line that makes it."""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tap_unittest
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
INTEROP = os.path.join(ROOT, "tests/interop")
WAIT_S = 100


def text_of(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as f:
        return f.read()


def blocks(language):
    """Of the README: the lines of each block in this language; commands have none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text_of("README.md"), re.M | re.S)
    return [body.splitlines() for name, body in found if name == language]


def commands():
    return [[line for line in block if line.strip()] for block in blocks("")]


def program():
    (lines,) = blocks("c")
    return lines


def compile_line():
    ((line,),) = [block for block in commands() if block[0].startswith("cc ")]
    return line


def version():
    return re.search(r"version: '(.*)'", text_of("meson.build")).group(1)


class Readme(unittest.TestCase):
    def setUp(self):
        self.build = os.environ["BUILD_DIR"]
        self.home = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.home)
        self.env = {key: value for key, value in os.environ.items() if not re.match("XDG_|PATCHBAY_|CIDELDILL_", key)}
        self.env.update(HOME=self.home, PATH=f"{self.home}/bin:{self.build}:{self.env['PATH']}",
                        PKG_CONFIG_PATH=f"{self.build}/meson-uninstalled", LD_LIBRARY_PATH=self.build)
        os.mkdir(f"{self.home}/bin")

    def start(self, line, **more):
        return subprocess.Popen(["bash", "-c", line], cwd=self.home, env=self.env, text=True, stdout=subprocess.PIPE,
                                start_new_session=True, **more)

    def run_line(self, line, said=""):
        """Runs it to its end, which must be a good one. What it printed."""
        done = subprocess.run(["bash", "-c", line], cwd=self.home, env=self.env, text=True, capture_output=True,
                              input=said, timeout=WAIT_S, check=False)
        self.assertEqual(done.returncode, 0, f"{line}\n{done.stdout}{done.stderr}")
        return done.stdout

    def run_until(self, line, text, stream="stdout"):
        """Starts it and reads until it has printed a line with this text; it runs on."""
        program = self.start(line, **({} if stream == "stdout" else {"stderr": subprocess.PIPE}))
        self.addCleanup(self.stop, program)
        for heard in getattr(program, stream):
            if text in heard:
                return program
        return self.fail(f"{line}: ended with {program.wait()} and never said '{text}'")

    def stop(self, program):
        if program.poll() is None:
            os.killpg(program.pid, signal.SIGINT)
            program.wait(WAIT_S)
        for stream in (program.stdout, program.stderr):
            if stream:
                stream.close()

    def put(self, path, lines, mode=0o644):
        path = os.path.join(self.home, path)
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        os.chmod(path, mode)

    def first_minute(self):
        """Installed in mind: the lines after the first one, with what each printed."""
        install, *lines = commands()[0]
        self.assertRegex(install, rf"^sudo apt install \./patchbay_{re.escape(version())}_\w+\.deb$")
        return {line: self.run_line(line) for line in lines}

    def initialized(self, line, call):
        """An MCP client's first words to it; the answer to one call. Programs end when their input does, so
        they are given it until they have answered."""
        program = self.start(line, stdin=subprocess.PIPE)
        self.addCleanup(self.stop, program)
        self.addCleanup(program.stdin.close)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "readme", "version": "1"}}
        for message in ({"id": 1, "method": "initialize", "params": hello}, {"method": "notifications/initialized"},
                        {"id": 2, "method": "tools/call", "params": call}):
            program.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        program.stdin.flush()
        for answer in map(json.loads, program.stdout):
            if answer.get("id") == 2:
                return answer["result"]["content"][0]["text"]
        return self.fail(f"{line}: ended without an answer")

    def test_the_first_minute_ends_with_a_tool_that_was_called(self):
        said = self.first_minute()
        add, listed, tools, call = said
        self.assertIn("Added demo", said[add])
        self.assertRegex(said[listed], r"demo +connected +4 ")
        self.assertIn("demo.calculator", said[tools])
        self.assertEqual(said[call], "42\n")

    def test_a_server_from_npm_is_added_and_called(self):
        server = os.path.join(INTEROP, "node_modules/.bin/mcp-server-filesystem")
        if not os.path.exists(server):
            self.skipTest("the programs from npm are not installed: run tools/interop-deps")
        self.put("bin/npx", ["#!/bin/sh", '[ "$1 $2" = "-y @modelcontextprotocol/server-filesystem" ] || exit 1',
                             "shift 2", f'exec node "{server}" "$@"'], 0o755)
        add, call = commands()[1]
        self.assertIn("Added files", self.run_line(add))
        self.run_line(call)

    def test_the_entry_for_a_client_works_as_pasted(self):
        self.first_minute()
        (entry,) = blocks("json")
        (server,) = json.loads("\n".join(entry))["mcpServers"].values()
        line = " ".join([server["command"], *server["args"]])
        self.assertEqual(self.initialized(line, {"name": "demo__calculator", "arguments": {"expression": "6 * 7"}}), "42")

    def test_one_daemon_serves_all_and_its_log_is_followed(self):
        self.first_minute()
        serve, logs = commands()[2]
        command = serve.split("#")[0].rstrip()
        self.assertEqual(command, "patchbay serve")
        self.run_until(f"{command} --port 0", "socket", "stderr")
        self.assertIn("http://127.0.0.1:", self.run_line("patchbay status"))
        self.run_until(logs, "demo")

    def test_the_program_in_c_is_compiled_and_adds(self):
        if "asan" in os.path.basename(self.build):
            self.skipTest("an instrumented library cannot be linked by hand")
        self.put("add.c", program())
        self.run_line(compile_line())
        self.assertEqual(self.initialized("./add", {"name": "add", "arguments": {"a": 40, "b": 2}}), "42")

    def test_make_knows_every_target_that_is_named(self):
        (block,) = [block for block in commands() if block[0].startswith("make ")]
        for line in block + re.findall(r"`(make [\w-]+)`", text_of("README.md")):
            self.run_line(f"make -n -C {ROOT} {line.split('#')[0].strip()[len('make'):]}")

    def test_no_block_of_commands_is_left_out(self):
        self.assertEqual([block[0].split()[0] for block in commands()], ["sudo", "patchbay", "patchbay", "cc", "make"])


PARTS = {"first-minute": lambda: commands()[0], "program": program, "compile": lambda: [compile_line()]}

if __name__ == "__main__":
    if sys.argv[1:2] == ["--print"]:
        print("\n".join(PARTS[sys.argv[2]]()))
    else:
        tap_unittest.main()
