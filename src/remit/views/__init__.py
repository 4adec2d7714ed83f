"""Watching: what people see of delegations, tasks, findings, errors and agents, and do about them from a page.

Owns the values that are shown, as plain JSON without secrets. Nothing here knows how they are carried or drawn.
"""
