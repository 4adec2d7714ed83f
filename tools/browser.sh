#!/usr/bin/env sh
# Installs the browser in which tests look at the dashboard: Debian's chromium, where one is root and it is missing.
# Where it cannot be had, it says so and is content: the tests that need it then skip, with a line of their own.
set -u
has_browser() { command -v chromium || command -v chromium-browser || command -v google-chrome; }
install() { apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core; }

if ! has_browser >/dev/null && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "installing chromium"
  export DEBIAN_FRONTEND=noninteractive
  install >/dev/null 2>&1 || { apt-get update -q && install; } >/dev/null 2>&1 || true
fi
if has_browser >/dev/null; then
  echo "tests put pictures of the dashboard into .screens/"
else
  echo "*** NOT INSTALLED: chromium. The tests of the dashboard in a real browser will be SKIPPED." >&2
fi
