"""Runs the tests of the program that imports it, and tells in TAP how each ended."""
import sys
import unittest


class Result(unittest.TestResult):
    def say(self, verdict, test, why="", remark=""):
        for line in why.splitlines():
            print(f"# {line}")
        print(f"{verdict} {self.testsRun} - {test._testMethodName.removeprefix('test_')}{remark}", flush=True)

    def addSuccess(self, test):
        self.say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("ok", test, remark=f" # SKIP {reason}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say("not ok", test, self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.say("not ok", test, self.errors[-1][1])


def main():
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = Result()
    print(f"1..{suite.countTestCases()}")
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
