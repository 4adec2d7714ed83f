"""Rules: what Remit has to say about agent files.

A module per subject; each registers its rules when it is loaded, and `all` loads every one. The rules on the graph
(`graph`) need no file's text, so a run in which no file changed loads nothing else.
"""
