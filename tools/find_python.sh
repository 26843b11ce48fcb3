#!/bin/sh
# Prints the first Python that can make the environment. A name alone proves nothing (version managers leave
# names that only say "not installed"), so each candidate is asked.
set -eu

fit='import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'
for name in ${PYTHON_FOR_VENV:-} python3.11 python3.12 python3.13 python3 python; do
    if "$name" -c "$fit" >/dev/null 2>&1; then
        echo "$name"
        exit 0
    fi
done
echo "No Python 3.11 or newer with its venv module was found. On Debian or Ubuntu type" >&2
echo "  sudo apt-get install -y python3 python3-venv" >&2
echo "or name one:  make PYTHON_FOR_VENV=python3.12 ..." >&2
exit 3
