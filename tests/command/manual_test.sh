#!/usr/bin/env bash
# The manual has a page for each command, without anything that mandoc warns of, and names what --help names.
#
# usage: manual_test.sh HYCOLL
set -uo pipefail

hycoll=$1
pages=$TEST_TMPDIR/man
mkdir "$pages"
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# What a help has below a heading, the first word of each entry.
entries() { # help, heading
  awk -v heading="$2:" '$0 == heading { inside = 1; next } /^[^ ]/ || /^$/ { inside = 0 }
    inside && /^  [^ ]/ { print $1 }' <<<"$1"
}

check_page() { # words of the command
  local page name help text option subcommand
  printf -v name '%s-' hycoll "$@"
  page=$pages/${name%-}.1
  expected=$((expected + 1))
  if ! [[ -s $page ]]; then
    fail "no page $page"
    return
  fi
  mandoc -T lint -W warning "$page" || fail "mandoc warns of $page"
  text=$(mandoc -T ascii -O width=500 "$page" | sed $'s/.\b//g')
  help=$("$hycoll" "$@" --help)
  for option in $(entries "$help" Options | sed 's/{false}//' | tr ',' '\n'); do
    grep -qwFe "$option" <<<"$text" || fail "$page lacks $option"
  done
  for subcommand in $(entries "$help" Subcommands); do
    check_page "$@" "$subcommand"
  done
}

"$hycoll" man "$pages" || fail "hycoll man ended with status $?"
expected=0
check_page
found=$(find "$pages" -type f | wc -l)
((found == expected && found > 10)) || fail "$found pages instead of $expected"

said=$("$hycoll" man "$pages/none" 2>&1)
status=$?
[[ $status == 2 && $said == *"DIRECTORY '$pages/none' is no folder. Make it first"* ]] ||
  fail "a folder that does not exist: status $status, $said"

((failures == 0))
