"""The reference: pages about every command, rule, setting, code and schema, written from the code.

Owns what these pages look like. What they say is said in the code, where it is needed too: in the help of a command,
the docstring of a rule, the comment of a setting. `make docs` writes them into docs/reference, which is
not in git; a test builds them and fails if one is missing or has a dead link.
"""
