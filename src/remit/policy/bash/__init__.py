"""Bash: what a shell command would run and touch, read from its syntax tree."""
