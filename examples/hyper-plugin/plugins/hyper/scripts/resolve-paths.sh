#!/bin/sh
# Print the folder that keeps the documents of this project: $HYPER_WORKSPACE_ROOT, else one in the home folder.
echo "${HYPER_WORKSPACE_ROOT:-$HOME/.hyper/workspaces/$(basename "$PWD")}"
