#!/bin/sh
# The tests that need nothing of the checkout, on the built wheel, in an environment and a folder of their own.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$root/.venv/bin/python" -m build --wheel --outdir "$work/dist" "$root" >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
"$root/.venv/bin/python" -m venv --system-site-packages "$work/venv"
# The checkout's packages stand in for a download; the wheel itself is installed, and found first.
site=$("$root/.venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$work"/dist/*.whl
here=$("$work/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
echo "$site" >"$here/zz_checkout_packages.pth"
mkdir "$work/elsewhere"
cd "$work/elsewhere"
ROTAJAX_INSTALLED=1 "$work/venv/bin/python" -m pytest -p no:cacheprovider "$root/tests/test_installed.py"
