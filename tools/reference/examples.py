"""The examples of the pages of commands: stories that are played from their beginning to their end.

Owns what is shown. `#` begins the sentence above an example, `$` the command that is shown and run. What begins with
`.` is run and not shown, and what begins with `!` fails besides. `stage` plays them, and what they print is what a
page shows.
"""

from __future__ import annotations

MESSAGES = """
# A return that holds; with `--root`, its artifacts are looked up on disk.
$ remit check standard-completed.md --root workspace
# A file that is claimed and not there.
$ remit check missing-artifact.md --root workspace --output-format concise
# For programs.
$ remit check prose-only.md --json
# The same in another format; what cannot be said there is told on standard error.
$ remit return convert standard-completed.md --to hyper
# Which commands there are for an agent inside a run.
$ remit return
# What an agent reads that hands its return in.
$ remit return submit --help
# What to put into an agent's prompt.
$ remit return prompt --format standard --session sess_1763200000_k3x9qz --agent planner --depth 1 --path main,planner
# Which schemas there are.
$ remit return schema
# One of them, for an editor or a program that checks JSON.
$ remit return schema manifest
# One code.
$ remit explain RET051
"""

AGENTS = """
# All agent files of the workspace, a line for each finding.
$ remit lint --output-format concise
# How often each code was found.
$ remit lint --statistics
# Some codes left out, and only errors fail.
$ remit lint --fail-on error --ignore AGT2
# What the safe fixes would change.
$ remit lint --fix --diff
# Put it right.
$ remit lint --fix --output-format concise
"""

WORK = """
# What is there, and what would be written; nothing is.
$ remit init --dry-run
# Write it.
$ remit init --yes
# The commands around settings.
$ remit config
# The commands that have to pass before work counts as complete.
$ remit checks --list
# Every setting, and where it comes from.
$ remit config show
# What the settings of this workspace would run, and whether it is trusted.
$ remit config trust --show
# Agree to it.
$ remit config trust --yes
# The commands around agent files.
$ remit agent
# An agent that is complete and lints clean.
$ remit agent new research researcher
# The agents that there are.
$ remit agent list
. remit agent new planning planner
. remit agent new implementation implementer
. remit agent new review reviewer
. git add -A
. git commit -q -m "Agents"
# What bash needs.
$ remit completion bash
# Who may call whom.
$ remit agent graph
# The same for a page that draws Mermaid.
$ remit agent graph --output-format mermaid
# What would be changed in an old file, and what is left to write by hand.
$ remit agent upgrade old-planner.md --diff
# Make what Claude Code reads of one agent.
$ remit agent build --to claude agents/researcher.md
# In CI: is what is committed up to date?
$ remit agent build --to claude --check agents/researcher.md
. git clean -fdq .claude
# May the researcher push?
$ remit agent can researcher bash "git push --force"
# And read a file?
$ remit agent can researcher read README.md
# The commands around tasks.
$ remit task
# A task.
$ remit task new "Rate limits for the API" --priority high
. remit task new "Export button" --language python --description "As CSV."
. remit task new "Login page"
. remit task new "Dark mode"
. git add -A
. git commit -q -m "Tasks"
# All that is open.
$ remit task list
# Have it researched.
$ remit task research 1
# Have it planned.
$ remit task plan 1
# Have the plan changed.
$ remit task revise 1 "In one phase."
# The phases of its plan.
$ remit task phases 1
# Have it done.
$ remit task implement 1
# Have another one reviewed.
$ remit task review 2 "Is the CSV safe?"
# A task with all that belongs to it.
$ remit task show 1
# Begin with another one.
$ remit task set-status 3 researching
# A move that is not legal.
$ remit task set-status 3 completed
# Take one up.
$ remit task start 2
# Which one is it?
$ remit task start
# It is done.
$ remit task done 2
# Something is in the way.
$ remit task block 4 --reason "The designs are not there yet."
# Put away what is over.
$ remit task archive
# Both files say the same.
$ remit task sync --check
. sed -i "s/RESEARCHING/RESEARCHED/" specs/TODO.md
# Somebody has edited one of them.
$ remit task sync --check
# The move is a legal one, so it is taken over.
$ remit task sync
# Some work without a task.
$ remit run "Note what is known about rate limits."
# A line of a file for each piece of work, one at a time.
$ remit run --each prompts.jsonl --concurrency 1
! remit run "Note the first half of it."
# Go on with what came back half done.
$ remit resume -
! remit run "Note it at the second try."
# Begin anew with what failed.
$ remit retry -
# The commands around errors.
$ remit errors
# What went wrong, by cause.
$ remit errors list
# One of them.
$ remit errors show 831bb043
# It was put right.
$ remit errors resolve 831bb043 --fixed --note "The network is back."
# What is still open.
$ remit errors list --open
# Work that nobody waits for.
$ remit run "Take your time." --detach
. until [ -e ~/began ]; do sleep 0.02; done
# Who is at work.
$ remit ps
# The same as a tree.
$ remit ps --tree
# What it has said so far.
$ remit logs
# Wait, but not for long.
$ remit wait --timeout 1
# End it.
$ remit cancel - --reason "It is not needed any more."
# What became of the last one.
$ remit show
# The run as a page to hand on.
$ remit show --format md
# The workspace at a glance.
$ remit status
# Is everything well?
$ remit doctor
# What would be removed.
$ remit gc --dry-run
# Findings, with the file that tells them at length.
$ remit findings add --title "Rate limits" --topic api --task 1 --followup T3 --date 2026-01-19 \\
    --finding "A bucket for each key is enough." --finding "Redis is not needed." --finding "Bursts are rare." \\
    --write-file --summary "Limits were measured. A bucket is enough." \\
    --recommendation "Write the bucket." --source "The log of last week."
# The commands around it.
$ remit findings
# All entries.
$ remit findings list
# Those with some words.
$ remit findings list buckets
# One of them.
$ remit findings show rate-limits-2026-01-19
# What is left to do.
$ remit findings list --pending
# Link a task to it.
$ remit findings link 3 rate-limits-2026-01-19
# The same from the task's side.
$ remit task link 4 rate-limits-2026-01-19
# Is every line well?
$ remit findings validate
# Counted.
$ remit findings stats
# For other programs.
$ remit findings export --format csv
# Make the index anew.
$ remit findings reindex
# What a harness is told of the server.
$ remit mcp < requests.jsonl
# The commands around hooks.
$ remit hooks
# Have Claude Code call Remit.
$ remit hooks install claude
# And no more.
$ remit hooks uninstall
# Serve the dashboard and the API.
$ remit serve
# Where is it?
$ remit serve --open
"""

CLUSTER = """
# The commands around workers.
$ remit worker
# Start a worker. Ctrl-C ends it.
$ remit worker start --name bee
# List the workers.
$ remit worker list
# Let it finish, and end it.
$ remit worker drain bee
"""
"""Needs a database."""
