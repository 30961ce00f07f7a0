#!/bin/sh
# Make a virtual environment with a Python that rtvoice runs on, unless one that works is already there.
#
#   scripts/make_venv.sh FOLDER
#
# PYTHON names the interpreter to use; without it the first fitting one of python3, python3.12, python3.11 is taken.
set -eu

folder=$1
wanted='import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 12))'

if [ -x "$folder/bin/python" ] && "$folder/bin/python" -c "$wanted" 2>/dev/null &&
    "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    exit 0
fi

chosen=
for candidate in ${PYTHON:-python3 python3.12 python3.11}; do
    if "$candidate" -c "$wanted" 2>/dev/null; then
        chosen=$candidate
        break
    fi
done
if [ -z "$chosen" ]; then
    echo "rtvoice needs Python 3.11 or 3.12, and ${PYTHON:-"none of python3, python3.12 and python3.11"} is one:" \
        "install one of them, or name it with 'make PYTHON=/path/to/python3.12'." >&2
    exit 1
fi
if ! "$chosen" -c 'import ensurepip, venv' 2>/dev/null; then
    version=$("$chosen" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "Python $version is here, but not its venv module:" \
        "on Debian and Ubuntu, 'apt-get install python$version-venv' brings it." >&2
    exit 1
fi

echo "Making $folder with $("$chosen" --version)."
"$chosen" -m venv --clear "$folder"
# Dependency groups need pip 25.1; an interpreter may bring an older one.
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
