#!/usr/bin/env bash
# version.sh: prints hycoll's version, as core/base/version.h says.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
exec awk '/^#define HYCOLL_VERSION_(MAJOR|MINOR|PATCH) / { printf "%s%s", dot, $3; dot = "." }' core/base/version.h
