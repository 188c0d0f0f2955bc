#!/usr/bin/env python3
"""Keeps Bazel's disk cache bounded, and true to the system's compilers and libraries.

usage: trim_cache.py FOLDER GIB

Bazel does not know the version of what the system brings: of compilers, headers and libraries. So what was made with
others is removed, which the file "packages" in the folder tells. Of the rest the files that were not used for longest are
removed, until no more than GIB gibibytes are left. A folder that does not exist is made.
"""

import pathlib
import subprocess
import sys


def packages():
    """The installed packages with which something is built, and their versions."""
    said = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}\n"], capture_output=True, text=True, check=True)
    built_with = ("g++", "gcc", "cpp", "binutils")
    return "".join(sorted(line + "\n" for line in said.stdout.splitlines()
                          if line.startswith(built_with) or line.split()[0].endswith("-dev")))


def files_of(folder):
    """The cache's own files: Bazel's two kinds of entries."""
    return [path for kind in ("ac", "cas") for path in (folder / kind).glob("**/*") if path.is_file()]


def remove(paths):
    for path in paths:
        path.unlink(missing_ok=True)


def main():
    if len(sys.argv) != 3 or not sys.argv[2].isdigit():
        sys.exit(f"trim_cache.py: takes a folder and a whole number of GiB, not {' '.join(sys.argv[1:])!r}")
    folder, limit = pathlib.Path(sys.argv[1]), int(sys.argv[2]) << 30
    folder.mkdir(parents=True, exist_ok=True)
    note = folder / "packages"
    made_with = packages()
    if not note.exists() or note.read_text() != made_with:
        remove(files_of(folder))
        note.write_text(made_with)

    used = []
    for path in files_of(folder):
        try:
            status = path.stat()
        except FileNotFoundError:  # another Bazel's
            continue
        used.append((max(status.st_atime, status.st_mtime), status.st_size, path))
    kept = 0
    for _, size, path in sorted(used, reverse=True):
        kept += size
        if kept > limit:
            remove([path])


if __name__ == "__main__":
    main()
