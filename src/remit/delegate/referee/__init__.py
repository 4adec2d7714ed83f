"""The referee: subagents that a harness starts itself, held to the same contract by its hooks."""
