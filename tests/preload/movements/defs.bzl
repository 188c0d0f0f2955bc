"""Tests of movements: in one node, and between nodes."""

load("//tests/preload/support:defs.bzl", "TWO_AND_THREE", "UP_TO_FIVE", "nonblocking", "not_served", "preload_test")

def movement_tests(
        name,
        program,
        blocking,
        reasons = [],
        reasons_between_nodes = [],
        blocking_between_nodes = False):
    """Suites of a program of movements: NAME_test on one node, NAME_nodes_test and NAME_per_node_test between nodes.

    Those between nodes have nodes of one and of several processes, where nonblocking calls need messages.

    Args:
      name: how the suites' names begin.
      program: the label of the program.
      blocking: the blocking routines that it calls, which hycoll serves everywhere. It serves their nonblocking forms on
        one node only.
      reasons: why other calls go to the MPI library on one node.
      reasons_between_nodes: the same, between nodes.
      blocking_between_nodes: the program is told to make no nonblocking calls between nodes.
    """
    preload_test(
        name = name + "_test",
        asan_ranks = [2],
        program = program,
        ranks = UP_TO_FIVE,
        reasons = reasons,
        served = blocking + nonblocking(blocking),
    )
    for place, env, ranks in [
        ("nodes", {"HYCOLL_EMULATE_NODES": "2"}, [3, 5]),
        ("per_node", {"HYCOLL_LAYOUT": "per_node"}, TWO_AND_THREE),
    ]:
        preload_test(
            name = "%s_%s_test" % (name, place),
            args = ["blocking"] if blocking_between_nodes else [],
            env = env,
            program = program,
            ranks = ranks,
            reasons = reasons_between_nodes,
            served = blocking + ([] if blocking_between_nodes else not_served(nonblocking(blocking))),
        )
