#!/usr/bin/env python3
"""Counts what a Bazel run tested.

usage: count_tests.py [--stage NAME --durations FILE] BUILD_EVENT_JSON_FILE

Reads the events of `bazel test --build_event_json_file=FILE` and prints one line "PASSED FAILED". Every doctest test
case counts, found by the summary line that doctest prints; a test without such a line counts as one. A target that
fails to build, times out or ends without a verdict counts as one failure at least. Reasons of skipped checks (lines
"skipped: ...") and failed targets go to standard error. With --durations, a line "SECONDS LABEL (NAME)" for each
test is added to FILE.
"""

import argparse
import json
import re
import sys
import urllib.parse
import urllib.request

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_SUMMARY = re.compile(r"^\[\w+\] test cases: +\d+ \| +(\d+) passed \| +(\d+) failed")


def read_log(result):
    """Returns the text of a test's log, or an empty one."""
    for output in result.get("testActionOutput", []):
        uri = output.get("uri", "")
        if output.get("name") == "test.log" and uri.startswith("file:"):
            path = urllib.request.url2pathname(urllib.parse.urlparse(uri).path)
            with open(path, encoding="utf-8", errors="replace") as log:
                return _ESCAPES.sub("", log.read())
    return ""


def count_result(label, result):
    """Returns the test cases passed and failed of one test target."""
    passed = failed = 0
    for line in read_log(result).splitlines():
        summary = _SUMMARY.match(line)
        if summary:
            passed += int(summary[1])
            failed += int(summary[2])
        elif line.startswith("skipped: "):
            print(f"{label}: {line}", file=sys.stderr)
    status = result.get("status", "NO_STATUS")
    if status == "PASSED":
        return max(passed, 1), failed
    print(f"{label}: {status}", file=sys.stderr)
    return passed, max(failed, 1)


def count(events):
    """Returns the totals over a stream of build events."""
    passed = failed = 0
    expected = set()
    seen = set()
    for event in events:
        identifier = event.get("id", {})
        if "targetConfigured" in identifier and "testSize" in event.get("configured", {}):
            expected.add(identifier["targetConfigured"]["label"])
        elif "testResult" in identifier:
            label = identifier["testResult"]["label"]
            seen.add(label)
            target_passed, target_failed = count_result(label, event.get("testResult", {}))
            passed += target_passed
            failed += target_failed
        elif "targetCompleted" in identifier and not event.get("completed", {}).get("success"):
            label = identifier["targetCompleted"]["label"]
            if label not in expected:
                print(f"{label}: not built", file=sys.stderr)
                failed += 1
    for label in sorted(expected - seen):
        print(f"{label}: not built or not run", file=sys.stderr)
        failed += 1
    return passed, failed


def durations(events):
    """Yields the label of each test that has run, and its time in seconds."""
    for event in events:
        identifier = event.get("id", {})
        if "testResult" in identifier:
            milliseconds = int(event.get("testResult", {}).get("testAttemptDurationMillis", 0))
            yield identifier["testResult"]["label"], milliseconds / 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stage", default="")
    parser.add_argument("--durations")
    parser.add_argument("events")
    arguments = parser.parse_args()
    with open(arguments.events, encoding="utf-8") as stream:
        events = [json.loads(line) for line in stream]
    if arguments.durations:
        with open(arguments.durations, "a", encoding="utf-8") as lines:
            for label, seconds in durations(events):
                lines.write(f"{seconds:8.1f} {label} ({arguments.stage})\n")
    print(*count(events))


if __name__ == "__main__":
    main()
