#!/usr/bin/env python3
"""docs/json-output.md, run: each command line that heads a part of it, with a daemon and without. What it
prints must have the keys and types of the example below it, no more and no less:

- "May be left out: `servers[].pid`." names keys that need not be there; `a.*` all keys of `a`.
- "Not described here: `tools[].definition`." names values that are not looked into.
- "Needs the daemon." says that without one this is an error.

In the command lines CALL is the id of a call that runs, QUESTION that of one that waits for an answer and CONFIG
the config file; a call was recorded before; `serve` gets a home of its own and any free port. Every
verb of `patchbay help --json` must have a part, or a row in the table of those that print something else, and
the tables of exit codes and of error codes must be those of the program."""
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import tap_unittest
import tempfile
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WAIT_S = 100


def document():
    with open(os.path.join(ROOT, "docs/json-output.md"), encoding="utf-8") as f:
        return f.read()


def marked(text, label):
    """The words in backquotes of the sentence that begins so; it may go on over several lines."""
    m = re.search(rf"^{label}: (.*?\.)$", text, re.M | re.S)
    return re.findall(r"`([^`]+)`", m.group(1)) if m else []


class Part:
    """One command line of the document, and the shape of what it prints."""
    def __init__(self, line, text):
        self.line, self.words = line, shlex.split(line)
        self.verb = self.words[0]
        examples = re.findall(r"^```json\n(.*?)^```$", text, re.M | re.S)
        if len(examples) != 1:
            raise ValueError(f"{line}: {len(examples)} examples")
        self.example = values(examples[0])
        self.optional = marked(text, "May be left out")
        self.opaque = marked(text, "Not described here")
        self.daemon = "\nNeeds the daemon." in text


def parts():
    pieces = re.split(r"^### `patchbay (.+)`$", document(), flags=re.M)[1:]
    return [Part(line, text.split("\n## ")[0]) for line, text in zip(pieces[::2], pieces[1::2])]


def rows(heading):
    """The first two cells of each row of the table below a heading."""
    text = document().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [tuple(cell.strip().strip("`") for cell in row.strip("|").split("|")[:2])
            for row in re.findall(r"^\|.*\|$", text, re.M)[2:]]


def values(text):
    """One value, or one on each line as a list."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def kind(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


class Shape:
    """Of several values that stand for the same: their kinds, what their members are, and which all have."""
    def __init__(self, some, path, part):
        self.kinds, self.members, self.items = {kind(v) for v in some}, {}, None
        self.path, self.open, self.optional = path, path in part.opaque, part.optional
        if self.open:
            return
        objects = [v for v in some if isinstance(v, dict)]
        for key in {k for o in objects for k in o}:
            self.members[key] = Shape([o[key] for o in objects if key in o], self.below(key), part)
        self.required = {k for k in self.members if all(k in o for o in objects)
                         and self.members[k].path not in part.optional and f"{path}.*" not in part.optional}
        self.free = f"{path}.*" in part.optional
        items = [item for v in some if isinstance(v, list) for item in v]
        if items:
            self.items = Shape(items, f"{path}[]", part)

    def below(self, key):
        return f"{self.path}.{key}" if self.path else key

    def lines(self):
        """For people to compare, without what may be left out."""
        own = [f"{self.path or '.'}: {'|'.join(sorted(self.kinds))}"]
        if self.open or self.free:
            return own
        for key in sorted(self.required):
            own += self.members[key].lines()
        return own + (self.items.lines() if self.items else [])

    def differs(self, value):
        """What is wrong with a value, or nothing."""
        if self.open:
            return None
        if kind(value) not in self.kinds:
            return f"{self.path or 'it'} is a {kind(value)}, not {self.kinds}"
        if isinstance(value, dict) and not self.free:
            missing = self.required - value.keys()
            more = {k for k in value.keys() - self.members.keys() if self.below(k) not in self.optional}
            if missing or more:
                return f"{self.path or 'it'} lacks {missing or 'nothing'} and has {more or 'nothing'} beside"
            return next(filter(None, (self.members[k].differs(v) for k, v in value.items() if k in self.members)), None)
        if isinstance(value, list) and self.items:
            return next(filter(None, map(self.items.differs, value)), None)
        return None


class Home:
    """A home directory, as the document describes it, with a daemon or without."""
    def __init__(self, test, daemon, recorded=False):
        self.test, self.build = test, os.environ["BUILD_DIR"]
        self.dir = os.path.realpath(tempfile.mkdtemp())
        test.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        for name in ("bin", "work", "other"):
            os.mkdir(f"{self.dir}/{name}")
        for name, of in (("example-server", "patchbay-example-server"), ("kit-server", "conformance-server"),
                         ("slow-server", "tests/e2e/mob_server"), ("patchbay", "patchbay")):
            os.symlink(f"{self.build}/{of}", f"{self.dir}/bin/{name}")
        self.env = {k: v for k, v in os.environ.items() if not re.match("XDG_|PATCHBAY_|CIDELDILL_", k)}
        self.env.update(HOME=self.dir, PATH=f"{self.dir}/bin:{self.env['PATH']}")
        self.daemon = None
        if recorded:
            self.record_one()
        if daemon:
            self.daemon = self.serve(["--port", "0", "--json"], self.env)[0]
            test.addCleanup(self.stop)

    def record_one(self):
        """A daemon that was there before has recorded a call; nothing else is left of it."""
        self.run(["add", "demo", "--", "example-server"])
        recorder, _ = self.serve(["--port", "0", "--json"], self.env)
        self.test.assertEqual(self.run(["call", "demo.echo", "text=hello"]), (0, "hello\n", ""))
        self.end(recorder)
        self.run(["remove", "demo"])

    def start(self, words, env=None):
        return subprocess.Popen(["patchbay", *words], cwd=f"{self.dir}/work", env=env or self.env, text=True,
                                executable=f"{self.build}/patchbay", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def run(self, words):
        """(exit code, stdout, stderr)."""
        program = self.start(words)
        out, err = program.communicate(timeout=WAIT_S)
        return program.returncode, out, err

    def serve(self, words, env):
        program = self.start(["serve", *words], env)
        return program, program.stdout.readline()

    def end(self, program):
        if program.poll() is None:
            program.send_signal(signal.SIGTERM)
        program.communicate(timeout=WAIT_S)

    def stop(self):
        if self.daemon:
            self.end(self.daemon)
        self.daemon = None

    def status(self):
        return json.loads(self.run(["status", "--json"])[1])

    def until(self, holds):
        end = time.monotonic() + WAIT_S
        while not holds():
            self.test.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def printed(self, part):
        """What the command line of a part prints: (exit code, stdout, stderr)."""
        if part.verb == "serve":
            other = {**self.env, "PATCHBAY_HOME": f"{self.dir}/other"}
            program, line = self.serve([*part.words[1:], "--port", "0"], other)
            self.end(program)
            if "--background" in part.words:
                subprocess.run([f"{self.build}/patchbay", "stop"], env=other, check=True, capture_output=True)
            return 0, line, ""
        words = [f"{self.dir}/.config/patchbay/config.json" if w == "CONFIG" else w for w in part.words]
        if self.daemon and (part.verb == "questions" or "QUESTION" in words):
            return self.asked(words)
        if "CALL" not in part.words or not self.daemon:
            return self.run(words)
        calling = self.start(["call", "slow.who"])
        self.until(lambda: self.status()["calls"])
        done = self.run([self.status()["calls"][0]["id"] if w == "CALL" else w for w in part.words])
        calling.communicate(timeout=WAIT_S)
        return done


    def asked(self, words):
        """While a call waits for somebody to allow it, which is what happens to it afterwards."""
        def waiting():
            return json.loads(self.run(["questions", "--json"])[1])["questions"]
        calling = self.start(["call", "demo.echo", "text=hello"])
        self.until(waiting)
        question = waiting()[0]["id"]
        done = self.run([question if w == "QUESTION" else w for w in words])
        self.run(["answer", question, "approve"])
        calling.communicate(timeout=WAIT_S)
        return done


class JsonOutput(unittest.TestCase):
    def walk(self, daemon):
        """Runs all parts in their order; the shape that each printed."""
        home, shapes = Home(self, daemon, recorded=True), {}
        for part in parts():
            if daemon and part.verb not in ("add", "add-json"):
                home.until(lambda: not daemon or home.daemon.poll() is not None or "connecting" not in home.status()["servers"])
            code, out, err = home.printed(part)
            if part.daemon and not daemon:
                self.assertEqual(code, 4, part.line)
                self.assertEqual(json.loads(err)["error"]["code"], "unreachable", part.line)
                self.assertEqual(out, '{"running":false}\n' if part.verb == "status" else "", part.line)
                continue
            self.assertEqual(code, 0, f"{part.line}: {out}{err}")
            for line in err.splitlines():
                self.assertEqual(len(json.loads(line)), 1, part.line)
            wrong = Shape([part.example], "", part).differs(values(out))
            self.assertIsNone(wrong, f"{part.line}: {wrong}\n{out}")
            shapes[part.line] = Shape([values(out)], "", part).lines()
        return shapes

    def test_every_verb_prints_what_the_document_says_with_a_daemon_and_without(self):
        one, other = self.walk(True), self.walk(False)
        self.assertGreater(len(other), 20)
        for line, shape in other.items():
            self.assertEqual(one[line], shape, line)

    def test_every_verb_is_in_the_document(self):
        home = Home(self, False)
        said = json.loads(home.run(["help", "--json"])[1])
        told = {part.verb for part in parts()}
        without = {verb for verb, _ in rows("Verbs without JSON")}
        for verb in said["verbs"]:
            takes = any(option["name"] == "json" for option in verb["options"])
            self.assertEqual(takes, verb["name"] in told, f"{verb['name']}: it takes --json, or is in the document, but not both")
            self.assertEqual(not takes, verb["name"] in without, verb["name"])
            self.assertIn("quiet", [option["name"] for option in verb["options"]])
        self.assertEqual(told | without, {verb["name"] for verb in said["verbs"]})

    def test_the_tables_of_codes_are_those_of_the_program(self):
        said = json.loads(Home(self, False).run(["help", "--json"])[1])
        self.assertEqual(rows("Exit codes"), [(str(e["code"]), e["help"]) for e in said["exit_codes"]])
        self.assertEqual(rows("Errors"), [(e["code"], str(e["exit"])) for e in said["error_codes"]])

    def test_an_error_is_json_in_every_verb_that_takes_it(self):
        home = Home(self, False)
        for verb in json.loads(home.run(["help", "--json"])[1])["verbs"]:
            if any(option["name"] == "json" for option in verb["options"]):
                code, out, err = home.run([verb["name"], "--nonsense", "--json"])
                self.assertEqual((code, out), (1, ""))
                error = json.loads(err)["error"]
                self.assertEqual(error["code"], "usage")
                self.assertIn("unknown option '--nonsense'", error["message"])
                self.assertTrue(error["hint"].startswith(f"usage: patchbay {verb['name']}"))
        code, out, err = home.run(["nonsense", "--json"])
        self.assertEqual((code, out, json.loads(err)["error"]["code"]), (1, "", "usage"))
        code, out, err = home.run(["call", "x.y", "--json"])
        self.assertEqual((code, out, json.loads(err)["error"]["code"]), (1, "", "not_found"))

    def test_quiet_leaves_nothing_but_errors(self):
        for daemon in (True, False):
            home = Home(self, daemon)
            for words in (["add", "demo", "-q", "--", "no-such-program"], ["add", "-q", "--force", "demo", "--", "example-server"],
                          ["add", "-q", "slow", "--", "slow-server", "talkative", "slow"], ["tools", "-q"], ["tools", "demo", "-q"],
                          ["list", "--quiet"], ["call", "slow.who", "-q"], ["mode", "few", "--filter", "demo", "-q"],
                          ["token", "add", "t", "--may", "mcp", "-q"], ["token", "rm", "t", "-q"], ["service", "install", "-q"],
                          ["tools", "--quiet", "--", "slow-server", "stderr", "slow"], ["doctor", "-q"], ["remove", "slow", "-q"]):
                code, _, err = home.run(words)
                self.assertEqual((code, err), (0, ""), words)
            code, _, err = home.run(["call", "-q", "demo.nothing"])
            self.assertEqual(code, 1)
            self.assertIn("patchbay: there is no tool 'demo.nothing'", err)
            home.stop()


if __name__ == "__main__":
    tap_unittest.main()
