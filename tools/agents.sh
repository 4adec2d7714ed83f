#!/usr/bin/env sh
# Installs the harnesses that tests run for real, by name and version, each into a folder of its own.
# Usage: tools/agents.sh FOLDER [newest]. Installs the pinned releases, or the newest ones, unless they are there already.
# Without npm or a network it says so and ends well: the tests that need a harness then skip, with a line of their own.
set -u
folder=$1 release=${2:-pinned}

install() { # NAME PACKAGE@VERSION
  place=$folder/$1
  if [ "$release" = newest ]; then
    set -- "$1" "${2%@*}@$(npm view --fetch-retries=1 "${2%@*}" version 2>/dev/null)"
    case $2 in *@) missing="$missing $1" && return ;; esac
  fi
  if [ "$(cat "$place/.installed" 2>/dev/null)" = "$2" ]; then return; fi
  mkdir -p "$place"
  # A lock file or a package.json from elsewhere would decide what is installed; the one here decides nothing.
  echo '{"private": true}' >"$place/package.json"
  rm -rf "$place/node_modules" "$place/package-lock.json" "$place/.installed"
  echo "installing $2 into $place"
  if npm install --prefix "$place" --ignore-scripts --no-audit --no-fund --loglevel=error \
    --fetch-retries=1 --fetch-timeout=120000 "$2" >"$place/npm.log" 2>&1; then
    echo "$2" >"$place/.installed"
  else
    tail -n 3 "$place/npm.log" >&2
    missing="$missing $1"
  fi
}

missing=
if command -v npm >/dev/null; then
  install claude @anthropic-ai/claude-code@2.1.326
  install opencode opencode-ai@1.18.33
  install codex @openai/codex@0.169.0
  install gemini @google/gemini-cli@0.61.0
else
  missing=" claude opencode codex gemini (there is no npm)"
fi
if [ -n "$missing" ]; then
  echo "*** NOT INSTALLED:$missing. The tests with these real harnesses will be SKIPPED." >&2
fi
