"""The door by which a run leaves as a file: `shape` has the words, `html` and `markdown` the two forms of it.

What agents wrote is in such a file as text and nothing else, whoever opens it and with what.
"""
