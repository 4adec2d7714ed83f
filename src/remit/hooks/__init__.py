"""Hooks: Remit inside a harness. Events come in, decisions go out; subagents are checked like runs."""
