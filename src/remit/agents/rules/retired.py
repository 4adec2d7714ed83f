"""Codes of rules that Remit no longer has. None is used again.

Settings and comments may still name them: they silence nothing, and it is no mistake to name one.
"""

from __future__ import annotations

RETIRED = {
    "AGT089": (
        "It looked for words such as `session`, `depth` and `deadline` in the context of a delegation. Remit "
        "passes the session id, depth, path and timeout on itself."
    ),
    "AGT153": (
        "It looked for words such as `check` and `status` in the preflight step. AGT142 and AGT145 check that"
        " the step is there and complete; Remit validates the inputs and moves the status itself."
    ),
    "AGT154": (
        "It looked for words such as `status` and `commit` in the postflight step. AGT142 and AGT146 check "
        "that the step is there and complete; Remit does what a postflight leaves out."
    ),
    "AGT155": (
        "It looked for words such as `format` and `verify` in the return step. AGT142 and AGT147 check that "
        "the step is there and complete; Remit validates each return."
    ),
    "AGT159": (
        "It looked for words such as `phase`, `estimate` and `registry` in the body of an agent of each kind."
        " Remit checks the artifacts of each kind when a command ends."
    ),
}
"""What each rule looked for, and what checks it now."""
