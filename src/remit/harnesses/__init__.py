"""Harnesses: what each one calls things and where it puts them, one module per harness.

Owns names and shapes that a new release of a harness may change, and tiny readers of them. Everything that depends on
a harness's release reads it here, so that a change of the harness is a change of one file. Hooks load this on every
tool call: these modules import next to nothing.
"""

HOOKED = ("claude", "codex", "opencode")
"""The harnesses that call `remit hook NAME`."""
