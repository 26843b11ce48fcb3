#!/bin/sh
# Brings the two programs that the tests need beside Python: a browser for the report, a server for the store.
set -eu

found() {
    for name in "$@"; do
        if [ -x "$name" ] || command -v "$name" >/dev/null 2>&1; then return 0; fi
    done
    return 1
}

missing=
# The headless shell is enough, and takes half of the CPU time of the full browser; text needs a font.
found /usr/bin/chromium-headless-shell /usr/bin/chromium || missing="$missing chromium-headless-shell fonts-dejavu-core"
found initdb /usr/lib/postgresql/*/bin/initdb || missing="$missing postgresql"
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ] && found apt-get; then
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    # shellcheck disable=SC2086 # names
    apt-get install -q -y --no-install-recommends $missing
    exit 0
fi
echo "The tests need$missing. Type, then run the same command again:" >&2
echo "  sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
exit 3
