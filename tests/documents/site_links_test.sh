#!/usr/bin/env bash
# The links of tools/site: each within a site that leads nowhere is named, and no other.
#
# usage: site_links_test.sh LINKS_PY
set -uo pipefail

links=$PWD/$1
site=$TEST_TMPDIR/site
mkdir -p "$site/docs"
failures=0

expect() { # what a page of docs/ has, its link, what is wrong with that or nothing
  local said status expected=
  [[ -z $3 ]] || expected="docs/page.html: $2: $3"
  printf '<a id="here">text</a>\n%s\n' "$1" >"$site/docs/page.html"
  said=$(python3 "$links" "$site" 2>&1)
  status=$?
  said=$(sed '$d' <<<"$said")
  if [[ $said != "$expected" || $status != "${3:+1}" && $status != "${3:-0}" ]]; then
    printf 'FAILED: %s\nexpected: %s\ngot status %s and: %s\n' "$1" "$expected" "$status" "$said"
    failures=$((failures + 1))
  fi
}

link() { # target, what is wrong with it or nothing
  expect "<a href=\"$1\">text</a>" "$1" "${2:-}"
}

printf '<h1 id="top">Top</h1><a name="old">text</a><img src="docs/a%%20b.svg">' >"$site/index.html"
touch "$site/docs/a b.svg"

link '../index.html'
link '../index.html#top'
link '../index.html#old'
link '#here'
link 'a%20b.svg'
link 'https://example.org/nothing'
link '../index.html#bottom' "no anchor 'bottom' there"
link '#there' "no anchor 'there' there"
link 'missing.html' 'no such file in the site'
link '..' 'no such file in the site'
link '../../outside.html' 'no such file in the site'
expect '<img src="missing.svg">' missing.svg 'no such file in the site'
expect '<script src="https://example.org/a.js"></script>' https://example.org/a.js 'comes from the network'
expect '<link rel="stylesheet" href="//example.org/a.css">' //example.org/a.css 'comes from the network'

((failures == 0))
