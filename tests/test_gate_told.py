#!/usr/bin/env python3
"""What others are told of calls, and what stays of them when things go wrong, through the running daemon: a
webhook that answers questions, a collector of spans, trace context on its way, and a place for records that
cannot be used."""
import http.server
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tap_unittest
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

BUILD = os.environ["BUILD_DIR"]
PATCHBAY = os.path.join(BUILD, "patchbay")
WAIT_S = 60
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


class Hook(http.server.BaseHTTPRequestHandler):
    """Notes what it is told, and answers what the test wants: (status, object or None)."""
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.heard.append((self.path, json.loads(body)))
        status, answer = self.server.answers.pop(0) if self.server.answers else (200, None)
        text = b"" if answer is None else json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Told(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="patchbay-told-")
        self.addCleanup(shutil.rmtree, self.home, True)
        self.env = {**os.environ, "PATCHBAY_HOME": self.home}
        for name in ("PATCHBAY_TOKEN", "PATCHBAY_MCP_CLIENTS_CONFIG", "CIDELDILL_HOME"):
            self.env.pop(name, None)
        self.daemon = None
        self.said = os.path.join(self.home, "said")
        os.mkdir(self.said)
        self.write("said/initialize", json.dumps({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}, "prompts": {}},
                                                  "serverInfo": {"name": "s", "version": "1"}}))
        self.write("said/tools_list", json.dumps({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}))
        self.write("said/prompts_list", json.dumps({"prompts": [{"name": "t"}]}))
        self.write("said/tools_call", json.dumps({"content": [{"type": "text", "text": "done"}]}))
        self.write("said/prompts_get", json.dumps({"messages": []}))
        self.write("said/heard", "")

    def tearDown(self):
        self.stop()

    # ---- the program ----

    def write(self, name, text):
        with open(os.path.join(self.home, name), "w", encoding="utf-8") as f:
            f.write(text)

    def config(self, policy=None, **settings):
        self.write("config.json", json.dumps({
            "settings": settings, "policy": policy or {},
            "mcpServers": {"s": {"command": os.path.join(BUILD, "tests/e2e/script_server"), "args": [self.said]}}}))

    def start(self, *more):
        self.err = open(os.path.join(self.home, "daemon.err"), "w+", encoding="utf-8")
        self.addCleanup(self.err.close)
        self.daemon = subprocess.Popen([PATCHBAY, "serve", "--port", "0", "--token", "secret", *more], env=self.env, cwd=self.home,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.err, start_new_session=True)
        self.until(lambda: "  socket" in self.words() or self.daemon.poll() is not None)

    def begin(self, *more):
        self.start(*more)
        self.assertIsNone(self.daemon.poll(), self.words())
        self.until(lambda: self.get("/api/servers/s")["state"] == "connected")

    def stop(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.assertEqual(self.daemon.wait(WAIT_S), 0)
        self.daemon = None

    def words(self):
        with open(os.path.join(self.home, "daemon.err"), encoding="utf-8") as f:
            return f.read()

    def until(self, holds):
        end = time.monotonic() + WAIT_S
        while not holds():
            if time.monotonic() > end:
                self.fail(f"it never came to this; the daemon says: {self.words()}")
            time.sleep(0.01)

    def ask(self, method, path, body=None, headers=None):
        port = self.words().split("http://127.0.0.1:")[1].split("/")[0]
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", None if body is None else json.dumps(body).encode(),
                                         {"Authorization": "Bearer secret", "Content-Type": "application/json", **(headers or {})}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as refused:
            return refused.code, json.loads(refused.read() or b"null")

    def get(self, path):
        status, answer = self.ask("GET", path)
        self.assertEqual(status, 200, answer)
        return answer

    def call(self, headers=None):
        return self.ask("POST", "/api/mcp-tools/call", {"tool": "s/t", "arguments": {"n": 1}}, headers)

    def heard(self, method):
        with open(os.path.join(self.said, "heard"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f if line.strip()]
        return [line["params"] for line in lines if line.get("method") == method]

    # ---- others ----

    def listener(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        server.heard, server.answers = [], []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return server, f"http://127.0.0.1:{server.server_address[1]}"

    ASK = {"rules": [{"action": "ask", "name": "careful", "tool": "t"}]}

    def test_a_webhook_is_told_of_questions_and_answers_them(self):
        hook, url = self.listener()
        self.config(self.ASK, webhook_url=url + "/hook")
        self.begin()
        hook.answers = [(200, {"choice": "approve"}), (200, None), (200, {"choice": "deny", "reason": "not by me"}), (200, None)]
        status, answer = self.call()
        self.assertEqual((status, answer["result"]["content"][0]["text"]), (200, "done"))
        status, answer = self.call()
        self.assertEqual(status, 403)
        self.assertIn("webhook has not allowed it: not by me", json.dumps(answer))
        self.until(lambda: len(hook.heard) == 4)
        path, first = hook.heard[0]
        self.assertEqual((path, first["type"], first["question"]["tool"], first["question"]["arguments"]), ("/hook", "question", "t", {"n": 1}))
        self.assertEqual(hook.heard[1][1], {"type": "question_over", "id": first["question"]["id"]})
        newest = self.get("/api/calls?limit=2")["recent"]
        self.assertEqual([(c["status"], c["answered_by"], c["rule"]) for c in newest],
                         [("denied", "webhook", "careful"), ("success", "webhook", "careful")])

    def test_a_webhook_that_leaves_it_open_fails_or_talks_nonsense_decides_nothing(self):
        hook, url = self.listener()
        self.config(self.ASK, webhook_url=url)
        self.begin()
        for said in ((202, None), (500, {"choice": "approve"}), (200, {"choice": "perhaps"}), (200, ["approve"])):
            hook.heard.clear()
            hook.answers = [said]
            answers = []
            caller = threading.Thread(target=lambda: answers.append(self.call()))
            caller.start()
            self.until(lambda: hook.heard)
            self.until(lambda: self.get("/api/questions")["questions"])
            asked = self.get("/api/questions")["questions"][0]["id"]
            self.assertEqual(self.heard("tools/call"), [], said)
            self.assertEqual(self.ask("POST", f"/api/questions/{asked}/answer", {"choice": "deny"})[0], 200)
            caller.join(WAIT_S)
            self.assertEqual(answers[0][0], 403)

    def test_a_collector_gets_a_span_for_each_call_and_none_of_what_was_said(self):
        collector, url = self.listener()
        self.config(otlp_url=url)
        self.begin()
        self.call({"traceparent": TRACE})
        self.call()
        spans = lambda: [s for _, body in collector.heard for r in body["resourceSpans"] for c in r["scopeSpans"] for s in c["spans"]]
        self.until(lambda: len(spans()) == 2)
        self.assertEqual({path for path, _ in collector.heard}, {"/v1/traces"})
        given = [s for s in spans() if s["traceId"] == TRACE[3:35]]
        self.assertEqual([s["parentSpanId"] for s in given], [TRACE[36:52]])
        self.assertEqual({s["name"] for s in spans()}, {"tools/call t"})
        self.assertEqual(len({s["spanId"] for s in spans()}), 2)
        self.assertNotIn("done", json.dumps([body for _, body in collector.heard]))

    def test_a_collector_that_was_away_is_tried_again(self):
        collector, url = self.listener()
        collector.answers = [(503, None)]
        self.config(otlp_url=url)
        self.begin()
        self.call()
        self.until(lambda: "otlp_url: HTTP 503; it is tried again" in self.words())

    # ---- traces ----

    def test_a_trace_is_taken_from_header_or_meta_passed_on_and_recorded(self):
        self.config()
        self.begin()
        self.call({"traceparent": TRACE})
        self.call({"traceparent": "nonsense"})
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "s__t", "arguments": {}, "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {}, "traceparent": TRACE.replace("-01", "-00"), "tracestate": "a=b"}}}
        modern = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "s__t"}
        self.assertEqual(self.ask("POST", "/mcp", body, modern)[0], 200)
        del body["params"]["_meta"]["traceparent"]
        self.assertEqual(self.ask("POST", "/mcp", body, {**modern, "traceparent": TRACE})[0], 200)
        want = [TRACE, None, TRACE.replace("-01", "-00"), TRACE]
        metas = [params.get("_meta", {}) for params in self.heard("tools/call")]
        self.assertEqual([m.get("traceparent") for m in metas], want)
        self.assertEqual([m.get("tracestate") for m in metas], [None, None, "a=b", "a=b"])
        self.assertEqual([c.get("traceparent") for c in reversed(self.get("/api/calls")["recent"])], want)

    # ---- rules ----

    def test_a_grant_is_for_a_tool_and_not_for_a_prompt_of_that_name(self):
        self.config({"rules": [{"action": "ask", "server": "s"}]})
        self.begin()
        answers = []
        caller = threading.Thread(target=lambda: answers.append(self.ask("POST", "/api/mcp-prompts/get", {"prompt": "s/t"})))
        caller.start()
        self.until(lambda: self.get("/api/questions")["questions"])
        asked = self.get("/api/questions")["questions"][0]
        self.assertEqual(self.ask("POST", f"/api/questions/{asked['id']}/answer", {"choice": "grant"})[0], 200)
        caller.join(WAIT_S)
        self.assertEqual(answers[0][0], 200)
        self.assertEqual(self.ask("POST", "/api/mcp-prompts/get", {"prompt": "s/t"})[0], 200)
        self.assertEqual(self.heard("tools/call"), [])
        caller = threading.Thread(target=lambda: answers.append(self.call()))
        caller.start()
        self.until(lambda: self.get("/api/questions")["questions"])
        self.assertEqual(self.heard("tools/call"), [])
        again = self.get("/api/questions")["questions"][0]
        self.assertEqual(self.ask("POST", f"/api/questions/{again['id']}/answer", {"choice": "grant", "once": True})[0], 200)
        caller.join(WAIT_S)
        self.assertEqual(len(self.heard("tools/call")), 1)
        self.assertEqual([g["operation"] for g in self.get("/api/grants")["grants"]], ["prompts/get s/t"])

    def test_a_grant_by_who_may_not_answer_lets_nothing_through(self):
        self.config({"rules": [{"action": "ask", "tool": "t", "answer_by": "cli"}]})
        self.begin()
        answers = []
        caller = threading.Thread(target=lambda: answers.append(self.call()))
        caller.start()
        self.until(lambda: self.get("/api/questions")["questions"])
        asked = self.get("/api/questions")["questions"][0]
        self.assertEqual(self.ask("POST", f"/api/questions/{asked['id']}/answer", {"choice": "approve"})[0], 409)
        self.assertEqual(self.ask("POST", "/api/grants", {"conversation": asked["run"], "operation": "s/t"})[0], 201)
        self.assertEqual(self.ask("PUT", "/api/auto-approve", {"conversation": asked["run"], "on": True})[0], 200)
        self.assertEqual([q["id"] for q in self.get("/api/questions")["questions"]], [asked["id"]])
        self.assertEqual(self.heard("tools/call"), [])
        done = subprocess.run([PATCHBAY, "grants", "add", asked["run"], "s/t"], env=self.env, cwd=self.home, capture_output=True, text=True, timeout=WAIT_S)
        self.assertEqual(done.returncode, 0, done.stderr)
        caller.join(WAIT_S)
        self.assertEqual(answers[0][0], 200)

    def test_rules_are_not_lost_when_only_the_default_is_sent(self):
        self.config({"rules": [{"action": "deny", "tool": "t"}]})
        self.begin()
        self.assertEqual(self.ask("PUT", "/api/policy", {"default": {"rest": "allow"}})[0], 400)
        self.assertEqual(self.call()[0], 403)

    # ---- a place for records that cannot be used ----

    def fails(self, *says):
        self.start()
        self.assertNotEqual(self.daemon.wait(WAIT_S), 0)
        for words in says:
            self.assertIn(words, self.words())

    def test_two_daemons_do_not_write_the_same_records(self):
        self.config()
        self.begin()
        pid, err = self.daemon.pid, self.words()
        other = subprocess.run([PATCHBAY, "serve", "--port", "0", "--no-socket"], env=self.env, cwd=self.home, capture_output=True, text=True, timeout=WAIT_S)
        self.assertNotEqual(other.returncode, 0)
        self.assertIn(str(pid), other.stderr)
        self.assertIn("records'; stop it, or start this one with --no-record", other.stderr)
        self.assertEqual(self.call()[0], 200, err)

    def test_records_that_are_damaged_or_newer_are_told_and_left_alone(self):
        self.config()
        self.begin()
        self.call()
        self.stop()
        path = os.path.join(self.home, "records/records.db")
        with sqlite3.connect(path) as db:
            db.execute("PRAGMA user_version=9999")
        db.close()
        before = open(path, "rb").read()
        self.fails("records.db", "newer")
        self.assertEqual(open(path, "rb").read(), before)
        with open(path, "wb") as f:
            f.write(b"this is no database" * 1000)
        self.fails("records.db")
        self.assertEqual(open(path, "rb").read(), b"this is no database" * 1000)

    def test_a_directory_that_cannot_be_written_is_told(self):
        self.config()
        self.write("records", "a file where a directory should be")
        self.fails("records")

    def test_calls_stop_when_they_cannot_be_recorded_unless_told_otherwise(self):
        """The disk is full: the file may grow no further than this."""
        for failure, status in (("stop", 503), ("go_on", 200)):
            self.config(record_failure=failure)
            self.write("said/tools_call", json.dumps({"content": [{"type": "text", "text": "x" * 100000}]}))
            self.begin()
            limit = 512 * 1024
            subprocess.run(["prlimit", f"--pid={self.daemon.pid}", f"--fsize={limit}:{limit}"], check=True)
            for _ in range(100):
                self.ask("POST", "/api/mcp-tools/call", {"tool": "s/t", "arguments": {"n": os.urandom(20000).hex()}})
                if "calls cannot be recorded" in self.words():
                    break
            self.until(lambda: "calls cannot be recorded" in self.words())
            self.assertEqual(self.call()[0], status)
            self.stop()


tap_unittest.main()
