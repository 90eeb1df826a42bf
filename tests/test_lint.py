#!/usr/bin/env python3
"""Tests of tools/lint: each rule is seen to fail in a small tree that breaks it, and only it."""
import os
import shutil
import subprocess
import sys
import tap_unittest
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

# A floor with two files, and a room above it with its own.
TREE = {
    "include/patchbay.h": "int pb_start(void);\nint pb_run(void);\n",
    "src/base/base.h": "/* base.h - the door.\n *\n *   mem.c   memory\n *   one.c   the first\n *           of them */\n#include \"one.h\"\n",
    "src/base/one.h": "struct one {\n    int n;\n};\nint one_get(void);\n",
    "src/base/limits.h": "enum {\n    ONE_MAX = 1,\n};\n",
    "src/base/mem.c": "int pb_start(void)\n{\n    return one_get();\n}\n",
    "src/base/one.c": '#include "one.h"\n\nint one_get(void)\n{\n    return ONE_MAX;\n}\n',
    "src/base/meson.build": "files('mem.c', 'one.c')\n",
    "src/io/io.h": "/* io.h - the floor. */\n",
    "src/io/http/http.h": "/* http.h - the door. */\nint call_run(void);\n",
    "src/io/http/http_impl.h": "/* http_impl.h - shared.\n *\n *   call.c   a call */\nstruct http_call {\n    int n;\n};\n",
    "src/io/http/call.c": '#include "base/base.h"\n#include "http_impl.h"\n\nint pb_run(void)\n{\n    return one_get();\n}\n',
    "src/io/meson.build": "files('http/call.c')\n",
}


class Lint(unittest.TestCase):
    def setUp(self):
        self.root = os.path.realpath(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        subprocess.run(["git", "init", "-q", self.root], check=True)
        for path, text in TREE.items():
            self.write(path, text)
        os.mkdir(os.path.join(self.root, "tools"))
        shutil.copy(os.path.join(HERE, "../tools/lint"), os.path.join(self.root, "tools/lint"))

    def write(self, path, text):
        path = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def add(self, path, text):
        self.write(path, TREE[path] + text)

    def change(self, path, old, new):
        self.assertIn(old, TREE[path])
        self.write(path, TREE[path].replace(old, new))

    def lint(self):
        done = subprocess.run([sys.executable, "tools/lint"], capture_output=True, text=True, check=False, cwd=self.root)
        return done.returncode, done.stdout + done.stderr

    def finds(self, *findings):
        code, out = self.lint()
        self.assertEqual(out, "".join(f"{line}\n" for line in findings) + f"{len(findings)} findings\n")
        self.assertEqual(code, 1)

    def test_a_good_tree_has_no_findings(self):
        self.assertEqual(self.lint(), (0, "the house rules hold\n"))

    # ---- rooms ----

    def test_a_room_may_not_know_those_below_it(self):
        self.change("src/base/one.c", '#include "one.h"', '#include "one.h"\n#include "io/io.h"')
        self.finds("src/base/one.c:2: the room base may not include io/io.h")

    def test_of_a_room_only_the_door_is_included(self):
        self.change("src/io/http/call.c", "base/base.h", "base/one.h")
        self.finds("src/io/http/call.c:1: base/one.h is private to base: include base/base.h")

    def test_a_library_has_one_home(self):
        self.change("src/base/one.c", '#include "one.h"', "#include <uv.h>")
        self.finds("src/base/one.c:1: uv.h is used in the room io only")

    # S0-179
    def test_a_folder_is_a_room_of_the_list_with_a_door_and_a_list_of_files(self):
        self.write("src/io/tape/tape.c", "")
        self.finds("src/io/tape: is no room of tools/lint: FLOORS", "src/io/tape: has no door, the header that bears its name",
                   "src/io/tape/tape.c: is not named in src/io/meson.build",
                   "src/io/tape/tape.c: has no line in the comment that begins its room's _impl.h or door")

    def test_a_test_that_nobody_runs_is_found(self):
        self.write("tests/io/meson.build", "foreach name : ['http/call']\n")
        self.write("tests/io/http/test_call.c", "")
        self.write("tests/io/http/test_lost.c", "")
        self.finds("tests/io/http/test_lost.c: is not named in tests/io/meson.build, so nobody runs it")

    # S0-179
    def test_a_test_lies_where_its_source_lies(self):
        self.write("tests/io/meson.build", "foreach name : ['call_much']\n")
        self.write("tests/io/test_call_much.c", "")
        self.finds("tests/io/test_call_much.c: tests no room: src/io has no sources",
                   "tests/io/test_call_much.c: bears the name of src/io/http/call.c: its place is tests/io/http")

    # ---- lists of files ----

    def test_a_file_without_a_line_is_found(self):
        self.change("src/base/base.h", " *   one.c   the first\n", "")
        self.finds("src/base/one.c: has no line in the comment that begins its room's _impl.h or door")

    def test_a_line_says_what_its_file_is_for(self):
        self.change("src/base/base.h", "mem.c   memory", "mem.c")
        self.finds("src/base/mem.c: has no line in the comment that begins its room's _impl.h or door")

    def test_a_line_of_a_file_that_is_not_there_is_found(self):
        self.change("src/base/base.h", " *   one.c", " *   gone.c   what was\n *   one.c")
        self.finds("src/base/base.h:1: lists gone.c, which is not in this room")

    def test_a_file_has_one_line(self):
        self.change("src/io/http/http.h", "the door.", "the door.\n *\n *   call.c   a call")
        self.finds("src/io/http/http_impl.h:1: lists call.c, as http.h does")

    def test_an_impl_header_begins_with_a_list(self):
        self.change("src/io/http/http_impl.h", "\n *\n *   call.c   a call", "")
        self.finds("src/io/http/http_impl.h:1: does not begin with a list of the files that share it, a line each",
                   "src/io/http/call.c: has no line in the comment that begins its room's _impl.h or door")

    # ---- words ----

    def test_a_tag_has_one_definition_in_all_rooms(self):
        self.change("src/io/http/http_impl.h", "struct http_call {", "/* struct one { */\nenum one {")
        self.finds("src/io/http/http_impl.h:5: one is the tag of something else at src/base/one.h:1")

    def test_a_tag_may_be_declared_and_used_anywhere(self):
        self.add("src/io/http/http_impl.h", "struct one;\nvoid one_put(struct one *o);\n")
        self.assertEqual(self.lint()[0], 0)

    # ---- what the program does ----

    def test_what_only_tests_call_is_found_with_all_that_only_it_calls(self):
        self.add("src/base/one.c", "static int helper(void)\n{\n    return 1;\n}\n\nint one_put(void)\n{\n    return helper();\n}\n")
        self.add("src/base/one.h", "int one_put(void);\n")
        self.write("tests/base/meson.build", "foreach name : ['one']\n")
        self.write("tests/base/test_one.c", "TEST(a)\n{\n    CHECK(one_put());\n}\n")
        self.finds("src/base/one.c:7: helper() is not reached from main() or patchbay.h: use it, or delete it",
                   "src/base/one.c:12: one_put() is not reached from main() or patchbay.h: use it, or delete it")

    def test_two_that_call_each_other_are_found(self):
        self.add("src/base/one.c", "int one_odd(void)\n{\n    return one_even();\n}\n")
        self.add("src/base/mem.c", "int one_even(void)\n{\n    return one_odd();\n}\n")
        self.finds("src/base/mem.c:5: one_even() is not reached from main() or patchbay.h: use it, or delete it",
                   "src/base/one.c:7: one_odd() is not reached from main() or patchbay.h: use it, or delete it")

    def test_inline_functions_of_headers_count_too(self):
        self.add("src/base/one.h", "static inline int one_twice(int n)\n{\n    return 2 * n;\n}\n")
        self.finds("src/base/one.h:5: one_twice() is not reached from main() or patchbay.h: use it, or delete it")

    def test_tables_macros_and_clean_ups_lead_on(self):
        self.add("src/base/one.h", "#define ONE_DO(x) one_do(x)\n#define AUTO_ONE __attribute__((cleanup(one_done)))\n")
        self.change("src/base/one.c", "return ONE_MAX;", "AUTO_ONE int n = ONE_DO(ONE_MAX);\n\n    return n + rows[0].run() + more[0](n);")
        self.write("src/base/mem.c", TREE["src/base/mem.c"] + "".join(
            f"{name}(int n)\n{{\n    return n;\n}}\n\n" for name in ("int one_do", "int one_done", "static int run", "static int more_run")) +
            "const struct {\n    int (*run)(int n);\n} rows[] = {\n    { run },\n};\nint (*const more[])(int n) = { more_run };\n")
        self.assertEqual(self.lint(), (0, "the house rules hold\n"))

    def test_a_function_of_one_file_is_static_unless_a_test_wants_it(self):
        self.change("src/base/one.c", "int one_get(void)\n{\n    return ONE_MAX;", "int one_most(void)\n{\n    return ONE_MAX;\n}\n\nint one_get(void)\n{\n    return one_most();")
        self.finds("src/base/one.c:3: one_most() is used in this file only: make it static")
        self.write("tests/base/meson.build", "foreach name : ['one']\n")
        self.write("tests/base/test_one.c", "TEST(a)\n{\n    CHECK(one_most());\n}\n")
        self.assertEqual(self.lint(), (0, "the house rules hold\n"))

    # ---- lines ----

    def test_banned_calls_and_allocators_are_found_and_words_in_comments_are_not(self):
        self.change("src/base/one.c", "return ONE_MAX;", 'atoi("atoi(");\n    /* atoi( */\n    malloc(1); // here\n    return ONE_MAX;')
        self.finds("src/base/one.c:5: atoi() is banned: use strtol with checks, or json_int",
                   "src/base/one.c:7: malloc() outside mem.c: use mem_alloc, NEW, buf or arena",
                   "src/base/one.c:7: // marks uncommitted debugging: use /* */")

    def test_calls_go_through_the_gate(self):
        self.change("src/base/one.c", "return ONE_MAX;", "hub_call(0);\n    return ONE_MAX;")
        self.finds("src/base/one.c:5: hub_call(): a call that goes round the gate is neither asked about nor recorded: gate_call()")

    def test_a_long_function_and_a_long_file_are_found(self):
        self.change("src/base/one.c", "    return", "    ;\n" * 99 + "    return")
        self.finds("src/base/one.c:4: a function of 101 lines; split it (at most 100)")
        self.write("src/base/one.c", TREE["src/base/one.c"] + "\n" * 800)
        self.finds("src/base/one.c: 807 lines; a file about one thing stays below 800")

    def test_a_bound_bounds_something(self):
        self.change("src/base/limits.h", "ONE_MAX = 1,\n", "ONE_MAX = 1,\n    TWO_MAX = 2,\n")
        self.finds("src/base/limits.h: TWO_MAX bounds nothing")

    def test_a_page_does_not_import_from_another(self):
        self.write("web/src/pages/tools/page.tsx", 'import { a } from "../servers/page";\n')
        self.finds("web/src/pages/tools/page.tsx:1: the page tools may not import from the page servers")

    def test_paths_of_somebodys_machine_are_found(self):
        self.add("src/io/meson.build", "x = '/home/" + "me/x'\n")
        self.finds("src/io/meson.build:2: names a path of somebody's machine")


if __name__ == "__main__":
    tap_unittest.main()
