#!/bin/sh
# Install the Debian packages that the tests need: Chromium, for the tests of the page.
#
# As root with apt-get they are installed. Elsewhere this only says what will be skipped, except in CI (CI=true),
# where nothing may be skipped and a missing package is a failure.
set -eu

if command -v chromium >/dev/null 2>&1; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    echo "Installing Debian's Chromium, which the tests of the page drive."
    apt-get update -qq
    apt-get install --yes --quiet --no-install-recommends chromium
    exit 0
fi
if [ "${CI:-}" = true ]; then
    echo "Chromium is missing and cannot be installed here: CI skips no test, so this run fails." >&2
    exit 1
fi
cat >&2 <<'EOF'

  ************************************************************************
  *  Chromium is not installed: THE TESTS OF THE PAGE WILL BE SKIPPED.    *
  *  Install your system's package 'chromium', or run this as root.      *
  ************************************************************************

EOF
