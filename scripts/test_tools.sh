#!/bin/sh
# Bring what the tests of the page need besides Python: Debian's Chromium, and TypeScript, by npm, to check its types.
#
# As root, with apt-get, missing Debian packages are installed. Elsewhere this only says what will be skipped, except in
# CI (CI=true), where nothing may be skipped and a missing program is a failure.
set -eu
cd "$(dirname "$0")/.."

missing=
for program in chromium npm; do # each is the name of its Debian package as well
    command -v "$program" >/dev/null 2>&1 || missing="$missing $program"
done

if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing from Debian, for the tests of the page:$missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update --quiet=2
    # shellcheck disable=SC2086 # a list of names
    apt-get install --yes --quiet=2 --no-install-recommends $missing >/dev/null
    missing=
fi

if [ -n "$missing" ]; then
    if [ "${CI:-}" = true ]; then
        echo "Not installed, and cannot be installed here:$missing. CI skips no test, so this run fails." >&2
        exit 1
    fi
    cat >&2 <<EOF

  **************************************************************************
    Not installed:$missing
    TESTS OF THE PAGE WILL BE SKIPPED. Install your system's packages of
    these names, or run this as root on Debian or Ubuntu.
  **************************************************************************

EOF
fi

modules=tests/web/node_modules
if command -v npm >/dev/null 2>&1 && ! [ "$modules/.installed" -nt tests/web/package.json ]; then
    npm install --prefix tests/web --no-package-lock --no-audit --no-fund --loglevel=error
    touch "$modules/.installed"
fi
