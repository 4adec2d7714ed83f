#!/usr/bin/env sh
# Runs the harness tests with the newest releases and reports: versions, how many pass, and the names of those that fail.
# Usage: tools/newest.sh FOLDER COMMAND…. Ends well whatever the tests say: a new release must not block a change here.
set -u
folder=$1
shift
echo "harness tests with the newest releases:"
for place in "$folder"/*/.installed; do
  [ -f "$place" ] && sed 's/^/  /' "$place"
done
REMIT_AGENTS=$folder "$@" --tb=no -rfE || echo "Some tests fail with the newest releases. This reports, and blocks nothing."
exit 0
