#!/usr/bin/env python3
"""Checks what a trace says, by what no run can contradict.

usage: check_trace.py PERFETTO_FILE REPORT_FILE

PERFETTO_FILE is of `hycoll trace --perfetto`, and REPORT_FILE of `--json`, of a run of traced_program.
"""

import collections
import json
import sys

ROUNDS = 50
LATE_US = 4000
ROUNDING_US = 0.01  # times are written with three digits
CLOCK_US = 0.1  # how well processes of one host read its clock


def fail(text):
    sys.exit(f"check_trace.py: {text}")


def slices_by_thread(events):
    threads = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            threads[event["pid"], event["tid"]].append(event)
    return threads


def check_nesting(events):
    """On a thread a slice lies in another one, or beside it; steps and waits lie in calls."""
    for thread, slices in slices_by_thread(events).items():
        # What has the same times is in its order.
        slices.sort(key=lambda slice: (slice["ts"], -slice["dur"]))
        open_ends = []
        for slice in slices:
            end = slice["ts"] + slice["dur"]
            # What begins at an end lies behind it, unless it ends there, too.
            while open_ends and open_ends[-1] <= slice["ts"] + ROUNDING_US and open_ends[-1] < end - ROUNDING_US:
                open_ends.pop()
            if open_ends and end > open_ends[-1] + ROUNDING_US:
                fail(f"thread {thread}: {slice} ends after what it lies in")
            if slice["cat"] != "call" and thread[1] % 256 == 0 and not open_ends:
                fail(f"thread {thread}: {slice} lies in no call")
            open_ends.append(end)


def check_order(events, error_us):
    """Nobody leaves an allreduce or a barrier before everybody has come."""
    calls = collections.defaultdict(dict)
    for event in events:
        arguments = event.get("args", {})
        if event.get("cat") != "call" or event["name"] == "broadcast" or not arguments["member"]:
            continue
        parts = calls[arguments["communicator"], arguments["call"]]
        # A long call is several runs.
        begin, end = parts.get(arguments["rank"], (event["ts"], 0))
        parts[arguments["rank"]] = (min(begin, event["ts"]), max(end, event["ts"] + event["dur"]))
    compared = 0
    for call, parts in calls.items():
        if len(parts) < 2:
            continue
        compared += 1
        last_arrival = max(begin for begin, end in parts.values())
        first_end = min(end for begin, end in parts.values())
        if first_end < last_arrival - error_us - CLOCK_US:
            fail(f"call {call}: left {last_arrival - first_end:.3f} us before the last one came; error {error_us} us")
    if compared < 4 * ROUNDS:
        fail(f"only {compared} calls have parts of several members")


def check_report(report):
    members = report["context"]["late_members"]
    late = [member for member in members if member["site"].startswith("late_sum") and member["rank"] == 1]
    # On busy cores others are late, too.
    if len(late) != 1 or late[0]["times_last"] < 0.6 * ROUNDS:
        fail(f"rank 1 is late in late_sum, and the report says {members}")
    if late[0]["others_waited_us"] < 0.6 * ROUNDS * LATE_US:
        fail(f"the others waited for {LATE_US} us in each of {ROUNDS} calls, and the report says {late}")
    sites = {}
    for record in report["records"]:
        if record["bytes"] == 512 and record["collective"] == "allreduce":
            sites[record["site"]] = record
    for function in ("late_sum", "even_sum"):
        if not any(site.startswith(f"{function} (traced_program.c:") for site in sites):
            fail(f"no call site is in {function}: {sorted(sites)}")
    late_class = next(record for site, record in sites.items() if site.startswith("late_sum"))
    if late_class["calls"] != ROUNDS or late_class["imbalance_us"] < 0.3 * late_class["total_us"]:
        fail(f"half of late_sum's time is waiting for rank 1, and the report says {late_class}")
    if not any(record["bytes"] == 8 << 18 for record in report["records"]):
        fail("the long call is missing")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    with open(sys.argv[2], encoding="utf-8") as file:
        report = json.load(file)
    check_nesting(events)
    check_order(events, report["context"]["clock_error_us"])
    check_report(report)


main()
