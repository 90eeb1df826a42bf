#!/usr/bin/env python3
"""Tests of tests/trace, each in a small tree of its own with a log as meson writes it."""
import json
import os
import shutil
import subprocess
import sys
import tap_unittest
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
REQUIREMENTS = "# Words\n\n- S0-1 one\n- S0-2 two\n- S0-3 three\n"


class Trace(unittest.TestCase):
    def setUp(self):
        self.root = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.write("docs/requirements.md", REQUIREMENTS)
        os.mkdir(os.path.join(self.root, "tests"))
        shutil.copy(os.path.join(HERE, "trace"), os.path.join(self.root, "tests/trace"))

    def write(self, path, text, age=100):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        then = os.stat(path).st_mtime - age
        os.utime(path, (then, then))

    def log(self, *tests, build="build", programs=None):
        """tests: (command, result, stdout); programs: name -> source."""
        programs = programs or {"test_a": "tests/test_a.c"}
        self.write(f"{build}/meson-info/intro-targets.json", json.dumps([
            {"filename": [os.path.join(self.root, build, name)], "target_sources": [{"sources": [os.path.join(self.root, source)]}]}
            for name, source in programs.items()]))
        self.write(f"{build}/meson-logs/testlog.json", "".join(
            json.dumps({"name": "x", "command": [os.path.join(self.root, word) for word in command], "result": result, "stdout": out}) + "\n"
            for command, result, out in tests), age=0)

    def trace(self, *arguments):
        done = subprocess.run([sys.executable, os.path.join(self.root, "tests/trace"), *arguments],
                              capture_output=True, text=True, check=False, cwd=self.root)
        return done.returncode, done.stdout + done.stderr

    def says(self, line, *arguments, status=0):
        code, out = self.trace(*arguments)
        self.assertIn(line, out)
        self.assertEqual(code, status, out)

    def test_an_id_counts_when_its_test_passed(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(good)\n{\n}\n\nTEST(inside)\n{\n    x(); /* S0-2 */\n}\n")
        self.log((["build/test_a"], "OK", "1..2\nok 1 - good\nok 2 - inside\n"))
        self.says("2 of 3 ids proven (0 named by tests that were skipped, 1 not named)")
        self.says("proven    S0-2    two\n    passed    tests/test_a.c: inside", "--list")

    def test_one_failed_test_is_enough_not_to_count(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(good)\n{\n}\n\n/* S0-1 S0-2 */\nTEST(bad)\n{\n}\n")
        self.log((["build/test_a"], "FAIL", "1..2\nok 1 - good\nnot ok 2 - bad\n"))
        self.says("0 of 3 ids proven (0 named by tests that were skipped, 2 named by a test that failed, 1 not named)")

    def test_in_another_build_it_may_be_skipped_but_not_fail(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(one)\n{\n}\n\n/* S0-2 */\nTEST(two)\n{\n}\n")
        self.log((["build/test_a"], "OK", "ok 1 - one\nok 2 - two\n"))
        self.log((["asan/test_a"], "FAIL", "ok 1 - one # SKIP\nnot ok 2 - two\n"), build="asan")
        self.says("1 of 3 ids proven (0 named by tests that were skipped, 1 named by a test that failed", "build", "asan")

    def test_skipped_tests_are_counted_apart(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(one)\n{\n}\n")
        self.write("tests/b.mjs", "// S0-2\ntest('two', () => {});\n")
        self.log((["build/test_a"], "SKIP", "1..1\nok 1 - one # SKIP nothing there\n"),
                 (["tests/with-node", "tests/b.mjs"], "SKIP", "1..0 # SKIP no Node\n"))
        self.says("0 of 3 ids proven (2 named by tests that were skipped, 1 not named)")

    def test_what_hung_or_died_has_failed(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(one)\n{\n}\n\n/* S0-2 */\nTEST(never_came)\n{\n}\n")
        self.log((["build/test_a"], "TIMEOUT", "1..2\nok 1 - one\n"))
        self.says("1 of 3 ids proven (0 named by tests that were skipped, 1 named by a test that failed, 1 not named)")

    def test_a_test_that_the_log_does_not_have_proves_nothing(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(new)\n{\n}\n")
        self.log((["build/test_a"], "OK", "ok 1 - old\n"))
        self.says("0 of 3 ids proven (0 named by tests that were skipped, 1 named by tests that did not run, 2 not named)")

    def test_a_file_that_was_changed_after_the_run_proves_nothing(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(one)\n{\n}\n", age=-100)
        self.log((["build/test_a"], "OK", "ok 1 - one\n"))
        self.says("none of the tests has run since it was changed", status=1)

    def test_without_results_it_fails(self):
        self.write("tests/test_a.c", "/* S0-1 */\nTEST(one)\n{\n}\n")
        self.says("no results of tests in", status=1)
        self.says("cannot read what ran", "build/meson-logs/plain.json", status=1)

    def test_outside_of_a_test_an_id_belongs_to_all_of_the_file(self):
        self.write("tests/test_a.c", "/* S0-1 */\nstatic void helper(void)\n{\n    x(); /* S0-2 */\n}\n\nTEST(a)\n{\n}\n\nTEST(b)\n{\n}\n")
        self.log((["build/test_a"], "OK", "ok 1 - a\nok 2 - b\n"))
        self.says("2 of 3 ids proven")
        self.log((["build/test_a"], "FAIL", "ok 1 - a\nnot ok 2 - b\n"))
        self.says("0 of 3 ids proven")

    def test_text_in_quotes_is_no_comment(self):
        self.write("tests/test_a.c", 'TEST(a)\n{\n    get("http://x"); s = "/* S0-1 */ // S0-2"; /* S0-3 */\n}\n')
        self.log((["build/test_a"], "OK", "ok 1 - a\n"))
        self.says("1 of 3 ids proven (0 named by tests that were skipped, 2 not named)")

    def test_a_line_comment_ends_with_its_line(self):
        self.write("tests/b.mjs", "test('a', () => {\n  get(`http://${x}`);\n  const id = S0-1;\n});\n")
        self.write("tests/test_a.c", "/* S0-2 */\nTEST(a)\n{\n}\n")
        self.log((["build/test_a"], "OK", "ok 1 - a\n"), (["tests/with", "tests/b.mjs"], "OK", "ok 1 - a\n"))
        self.says("1 of 3 ids proven (0 named by tests that were skipped, 2 not named)")

    def test_scripts_are_found_by_the_arguments_and_names_may_be_templates(self):
        self.write("tests/web/b.mjs", "// S0-1\nstory('it\\'s #1', {}, async () => {\n  // S0-2\n});\n// S0-3\ntest(`wide ${n} px`, () => {});\n")
        self.log((["tests/web/with", "tests/web/b.mjs"], "FAIL", "ok 1 - it's \\#1\nnot ok 2 - wide 30 px\n"))
        self.says("2 of 3 ids proven (0 named by tests that were skipped, 1 named by a test that failed, 0 not named)")

    def test_in_python_an_id_stands_before_its_test_or_in_it(self):
        self.write("tests/test_b.py", "class B:\n    # S0-1\n    def test_first(self):\n        '# S0-3'\n\n"
                                      "    def test_second(self):\n        x()  # S0-2\n")
        self.log((["python3", "tests/test_b.py"], "FAIL", "ok 1 - first\nnot ok 2 - second\n"))
        self.says("1 of 3 ids proven (0 named by tests that were skipped, 1 named by a test that failed, 1 not named)")

    def test_the_tests_of_the_page_say_whose_they_are(self):
        self.write("web/test.mjs", "")
        self.write("web/src/shared/a.test.ts", '// S0-1\ntest("one", () => {});\n// S0-2\ntest("two", () => {});\n')
        self.log((["node", "web/test.mjs"], "OK", "ok 1 - shared/a.test.ts: one\nok 2 - other.test.ts: two\n"))
        self.says("1 of 3 ids proven")

    def test_an_id_that_is_not_in_the_list_is_an_error(self):
        self.write("tests/test_a.c", "/* S0-9 */\nTEST(a)\n{\n}\n")
        self.log((["build/test_a"], "OK", "ok 1 - a\n"))
        self.says("S0-9 in tests/test_a.c is not in docs/requirements.md", status=1)
        self.says("not ok 1", "--tap", status=1)

    def test_a_line_of_the_list_without_an_id_is_an_error(self):
        for line in ("- S0-4\n", "- four\n", "- S0-3 three again\n"):
            self.write("docs/requirements.md", REQUIREMENTS + line)
            self.says("docs/requirements.md:6: ", "--tap", status=1)


if __name__ == "__main__":
    tap_unittest.main()
