#!/usr/bin/env bash
# tools/links names every link that leads nowhere, and no other.
#
# usage: links_test.sh LINKS
set -uo pipefail

links=$PWD/$1
tree=$TEST_TMPDIR/tree
mkdir -p "$tree/docs" "$TEST_TMPDIR/empty"
failures=0

expect() { # description, exit status, lines of output before the last one
  local said status
  said=$(python3 "$links" --root "$tree" 2>&1)
  status=$?
  said=$(sed '$d' <<<"$said")
  if [[ $status != "$2" || $said != "$3" ]]; then
    printf 'FAILED: %s\nexpected status %s and\n%s\ngot status %s and\n%s\n' "$1" "$2" "$3" "$status" "$said"
    failures=$((failures + 1))
  fi
}

# Links of every kind that lead somewhere, and what looks like links in code.
cat >"$tree/docs/guide.md" <<'END'
# Guide: `code`, and more (1)

## Twice
## Twice
<a id="named"></a>

[up](../README.md) [itself](#twice) [again](#twice-1) [named](#named) [title](#guide-code-and-more-1)
END
cat >"$tree/README.md" <<'END'
[file](docs/guide.md), [folder](docs), [anchor](docs/guide.md#twice-1), [title](docs/guide.md "A guide"),
![image](docs/guide.md), <a href="docs/guide.md">html</a>, [outside](https://example.org/a_(b)), <https://example.org>,
[long
text](docs/guide.md), [reference][guide], [mail](mailto:someone@example.org)

[guide]: docs/guide.md#named

    auto call = [](missing.md) {};

```
[text](missing.md)
```

`[text](missing.md)` and ``[text](missing`.md)``
END
expect "nothing is wrong" 0 ""

# One broken link at a time.
sound=$(cat "$tree/README.md")
broken() { # line of a document, target, reason
  printf '%s\n\n%s\n' "$sound" "$1" >"$tree/README.md"
  expect "$1" 1 "README.md:$(wc -l <"$tree/README.md"): $2: $3"
}
broken '[text](missing.md)' missing.md "no such file"
broken '[two](docs) [text](docs/missing.md#twice)' docs/missing.md#twice "no such file"
broken '[text](docs/guide.md#thrice)' docs/guide.md#thrice "no heading with the anchor 'thrice' in docs/guide.md"
broken '[text](docs/guide.md#twice-2)' docs/guide.md#twice-2 "no heading with the anchor 'twice-2' in docs/guide.md"
broken '[text](#twice)' '#twice' "no heading with the anchor 'twice' in README.md"
broken '[text](docs#twice)' 'docs#twice' "no heading with the anchor 'twice' in docs"
broken '![image](missing.svg)' missing.svg "no such file"
broken '<img src="missing.svg">' missing.svg "no such file"
broken '[gone]: missing.md' missing.md "no such file"
broken '[text][nowhere]' reference "the reference has no definition"
broken '[text](../outside.md)' ../outside.md "outside of the tree; name files relative to the document"
broken '[text](/docs)' /docs "outside of the tree; name files relative to the document"
broken '[text](https:/example.org)' https:/example.org "no host, or blanks"
broken '<https://example>' https://example "no host, or blanks"
broken '[text](htps://example.org)' htps://example.org "the scheme 'htps' is none of http, https, mailto"

python3 "$links" --root "$TEST_TMPDIR/empty" >/dev/null 2>&1
status=$?
if ((status != 2)); then
  echo "FAILED: a root without documents ended with status $status instead of 2"
  failures=$((failures + 1))
fi

((failures == 0))
