#!/usr/bin/env bash
# Sets context-kernel up for Claude Code and Codex, shows on real output what it does, and takes itself out again.
#   bash install.sh [options]        options: bash install.sh --help
# This file only finds an interpreter (bash 3.2 suffices); the rest is hooks/install.py.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P) || exit 1
which_one='import os, sys
sys.version_info >= (3, 9) or sys.exit(1)
base = getattr(sys, "_base_executable", None)
print(base if base and os.path.exists(base) else sys.executable)'

seen=
for name in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9 python; do
  path=$(command -v "$name" 2>/dev/null) || continue
  seen="$seen $("$path" -c 'import sys; print("%s:%d.%d" % (sys.argv[1], sys.version_info[0], sys.version_info[1]))' "$name" 2>/dev/null)"
  # the interpreter itself, not a version manager's shim or a project's venv: hooks start it hundreds of times
  python=$("$path" -I -c "$which_one" 2>/dev/null) || continue
  exec "$python" -I -S -B "$root/hooks/install.py" "$@"
done
echo "install.sh: context-kernel needs Python 3.9 or newer;${seen:- no python3 was found}${seen:+ is all that was found}." >&2
echo "Install one (https://www.python.org/downloads/, or your system's python3 package), or name it: PYTHON=/path/to/python3 bash install.sh" >&2
exit 1
