#!/bin/sh
# Icons are drawn by the system's cairo library; everything else works without it.
set -u
if ldconfig -p 2>/dev/null | grep -q 'libcairo\.so\.2' || [ "$(uname -s)" = Darwin ]; then exit 0; fi
echo "cairo is missing; trying to install it (only 'rotajax icons' and 'rotajax suite build' need it)"
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq libcairo2 && exit 0
fi
echo "could not install it: get 'libcairo2' (Debian, Ubuntu), 'cairo' (Fedora, Arch, Homebrew); going on without it"
