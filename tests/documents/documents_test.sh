#!/usr/bin/env bash
# tools/documents names everything that a document says wrongly of the sources, and nothing else.
#
# usage: documents_test.sh DOCUMENTS
set -uo pipefail

documents=$PWD/$1
tree=$TEST_TMPDIR/tree
failures=0

expect() { # description, exit status, lines of output before the last one
  local said status
  said=$(python3 "$documents" --root "$tree" 2>&1)
  status=$?
  said=$(sed '$d' <<<"$said")
  if [[ $status != "$2" || $said != "$3" ]]; then
    printf 'FAILED: %s\nexpected status %s and\n%s\ngot status %s and\n%s\n' "$1" "$2" "$3" "$status" "$said"
    failures=$((failures + 1))
  fi
}

mkdir -p "$tree/docs/decisions" "$tree/docs/examples" "$tree/collectives/selection" "$tree/tools/command"
expect "nothing to look at" 2 ""
cat >"$tree/collectives/selection/choice.cc" <<'END'
// By decision 1, and docs/design.md, "Words".
const char* asked = std::getenv("HYCOLL_LANES");
int chosen = Options::by_name("dpml-ring");
switch (collective) {
  case Collective::scan: {
    return 1;
  }
}
END
echo 'line.add("--sizes --algorithm");' >"$tree/tools/command/bench.cc"
cat >"$tree/docs/examples/short.cc" <<'END'
int main() {
  // Why.
  first();
  check();
  second();
}
END
echo '# 1. First' >"$tree/docs/decisions/0001-first.md"
printf '| [1](0001-first.md) | first | holds |\n' >"$tree/docs/decisions/README.md"
printf '# Settings\n\n| `HYCOLL_LANES=4` | lanes |\n' >"$tree/docs/settings.md"
cat >"$tree/docs/algorithms.md" <<'END'
| [`dpml-ring`](#a) | allreduce |
| [`flat-ring`](#a) | allreduce |

### By name only

`flat-ring`.

## Allreduce
END
cat >"$tree/docs/performance.md" <<'END'
## Threads

Of commit `77aef05`:

    hycoll bench --sizes 8

| 8 B |
|---|
| 0.1 |
END
cat >"$tree/docs/design.md" <<'END'
## Words

See decision 1, `collectives/{selection,selection/../selection}/choice.*`, `selection/`, `Options::by_name()`, `--algorithm dpml`, `HYCOLL_LANES=4`,
`flat-ring`, `mpiexec --bind-to core`, `MPI_Init` and `//collectives/selection:choice`.

```cpp
int main() {
  first();
  second();  // at last
}
```
END
expect "a sound tree" 0 ""

cat >>"$tree/collectives/selection/choice.cc" <<'END'
// See docs/plans.md; docs/design.md,
// "Word"; decision 3.
int more = get("HYCOLL_PINS") + take("flat-ring");
switch (c) {
  case Collective::scan: { return; }
  default:
}
END
cat >>"$tree/docs/design.md" <<'END'
HYCOLL_LANE=4 helps, see decision 2, `collectives/choice.cc`, `collectives/{selection,plans}/choice.cc`, `plans/`, `//collectives/choice`, `ring-flat`, `Options::by_number`, `Options::plans`

    hycoll bench --size 8
    hycoll race --algorithm tree

`--algorithm=chains`

```cpp
int main() {
  second();
  first();
}
```
END
printf 'word %.0s' {1..31} >"$tree/README.md"
echo '| [`chain`](#a) | scan |' >>"$tree/docs/algorithms.md"
printf '## Processes\n\n| 0.2 |\n' >>"$tree/docs/performance.md"
echo '# 4. Second' >"$tree/docs/decisions/0004-second.md"
expect "everything wrong" 1 "collectives/selection/choice.cc: no such document: docs/plans.md
collectives/selection/choice.cc: docs/design.md has no heading 'Word'
collectives/selection/choice.cc: no decision 3
collectives/selection/choice.cc: a switch over collectives with a default
README.md:1: a sentence of 31 words: $(printf 'word %.0s' {1..12})...
docs/algorithms.md:4: chain is not called an algorithm that auto never takes
docs/algorithms.md:4: flat-ring is called an algorithm that auto never takes
docs/decisions/README.md:1: decision 4 has no row
docs/design.md:12: nothing reads HYCOLL_LANE
docs/design.md:12: no such file: collectives/choice.cc
docs/design.md:12: no such file: collectives/{selection,plans}/choice.cc
docs/design.md:12: no such folder: plans/
docs/design.md:12: no such package: //collectives/choice
docs/design.md:12: no such algorithm, and nothing else of that name: ring-flat
docs/design.md:12: nothing is called Options::by_number
docs/design.md:12: nothing is called Options::plans
docs/design.md:14: nothing knows the option --size
docs/design.md:15: no subcommand of hycoll: race
docs/design.md:15: no such algorithm: tree
docs/design.md:17: no such algorithm: chains
docs/design.md:12: no decision 2
docs/design.md:19: the program's lines do not stand in this order in any file of docs/examples
docs/performance.md:10: '## Processes' has figures and no commit \`1234567\`
docs/performance.md:10: '## Processes' has figures and no command
docs/settings.md:1: HYCOLL_PINS is read and has no row"

((failures == 0))
