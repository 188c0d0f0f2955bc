#!/usr/bin/env python3
"""Follows docs/tutorial.md to the letter: writes its programs, runs its commands in an empty folder, and compares what they
print.

usage: tutorial.py PREFIX FOLDER

PREFIX is where hycoll is installed for MPICH; FOLDER is empty. A block is the file that the line before it names, or commands:
each line that begins with "$ ", and behind it what it prints. "..." stands for any lines.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LIMIT_S = 300


def fail(message):
    print(f"FAILED: docs/tutorial.md: {message}")
    sys.exit(1)


def blocks(text):
    """Yields (the line of text before it, the lines) of each indented block."""
    before, block, was_empty = "", [], True
    for line in text.splitlines() + [""]:
        if line.startswith("    ") and (block or was_empty):
            block.append(line[4:])
        elif not line and block:
            block.append("")
        else:
            if block:
                yield before, "\n".join(block).rstrip("\n").split("\n")
                block = []
            if line:
                before = line
        was_empty = not line
    if block:
        yield before, "\n".join(block).rstrip("\n").split("\n")


def steps(text):
    """(file names and contents, commands and what they print) in their order, as (name or command, lines)."""
    made = []
    for before, lines in blocks(text):
        named = re.fullmatch(r"`([\w.]+)`:", before)
        if named:
            made.append((named[1], None, lines))
        elif lines[0].startswith("$ "):
            for line in lines:
                if line.startswith("$ "):
                    made.append((None, line[2:], []))
                else:
                    made[-1][2].append(line)
        else:
            fail(f"the block behind '{before}' is neither a file nor commands")
    return made


def is_like(said, expected):
    pattern = "\n".join("(.*\n?)*?" if line == "..." else re.escape(line) for line in expected)
    return re.fullmatch(pattern, said) is not None


def main(prefix, folder):
    home, work, tools = (pathlib.Path(folder) / name for name in ("home", "work", "tools"))
    for made in (home, work, tools):
        made.mkdir(parents=True)
    (home / "hycoll").symlink_to(pathlib.Path(prefix).resolve())
    for command in ("mpicc", "mpicxx", "mpifort", "mpiexec"):
        found = subprocess.run(["which", f"{command}.mpich"], capture_output=True, text=True, check=True).stdout
        # No link: MPICH's launcher looks for others beside itself.
        (tools / command).write_text(f'#!/bin/sh\nexec {found.strip()} "$@"\n', encoding="utf-8")
        (tools / command).chmod(0o755)
    environment = {
        "HOME": str(home),
        "PATH": f"{tools}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
        "OMP_WAIT_POLICY": "passive",  # there may be more threads than cores
    }
    followed = steps((ROOT / "docs/tutorial.md").read_text(encoding="utf-8"))
    script = ""
    for number, (name, command, lines) in enumerate(followed):
        if name:
            (work / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        else:
            script += f"echo '<<{number}>>'\n{command}\n[ $? = 0 ] || exit 1\n"
    ran = subprocess.run(
        ["bash", "-c", script],
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
    )
    said = dict(re.findall(r"^<<(\d+)>>\n(.*?)(?=^<<|\Z)", ran.stdout, re.MULTILINE | re.DOTALL))
    checked = 0
    for number, (_, command, lines) in enumerate(followed):
        if command is None:
            continue
        if str(number) not in said:
            fail(f"a command before '{command}' failed:\n{ran.stdout}")
        if not is_like(said[str(number)].rstrip("\n"), lines):
            expected = "\n".join(lines)
            fail(f"'{command}' prints\n{said[str(number)]}and not\n{expected}")
        checked += 1
    if ran.returncode:
        fail(f"the last command failed:\n{ran.stdout}")
    print(f"docs/tutorial.md: {checked} commands do what it says")


main(*sys.argv[1:])
