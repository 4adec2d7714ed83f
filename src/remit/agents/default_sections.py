"""Passages: what nearly every standard agent says in the same words, for fixes that add it.

Owns the texts and how they are laid out. They say what the standard asks for and nothing about one agent; whoever has
them added goes over them.
"""

from __future__ import annotations

USUAL_INPUTS = {
    "task_number": ("integer", False, "The task that the work belongs to."),
    "session_id": ("string", False, "The session that was issued for this delegation."),
    "delegation_depth": ("integer", False, "How deep this delegation is."),
    "delegation_path": ("array", False, "Who delegated to whom, from the top."),
    "language": ("string", True, "The language of the code, where there is code."),
    "timeout": ("integer", True, "How many seconds this delegation may take."),
}
"""Type, whether it is optional, and what it is (R1.10)."""
USUAL_FORBIDDEN = ("conversation_history", "full_system_state", "unstructured_context")
USUAL_ERRORS = {
    "timeout": (
        "Nine tenths of the time are used and the work is not done.",
        "Save what there is, leave the status where it is, and return partial.",
        "Run the same command again to resume.",
        "Log the timeout with the session id to errors.json.",
    ),
    "validation_failure": (
        "An input is missing or wrong, or the return does not pass its validation.",
        "For an input return failed before anything is written; for the return correct it and validate it again.",
        "Correct the input that the error names and run the command again.",
        "Log what failed, and its value, to errors.json.",
    ),
    "file_operation_failure": (
        "A file can't be read or written, or is empty after it was written.",
        "Try once more. Then return failed, or partial if something usable is on disk.",
        "Check the path and its permissions.",
        "Log the path and the reason to errors.json.",
    ),
    "delegation_failure": (
        "An agent that was called returns failed, something invalid, or nothing in time.",
        "Go on without it where that is possible, else return partial with what is there.",
        "Do by hand what the call was for, or run the command again.",
        "Log who was called and what came back to errors.json.",
    ),
    "git_failure": (
        "The commit is refused.",
        "Go on: the work is on disk. Name the failure in the return.",
        "Commit by hand.",
        "Log what git said to errors.json.",
    ),
}
"""Detection, handling, recovery and logging of each (R1.23)."""
STATUSES = {
    "planning": ("PLANNING", "PLANNED"),
    "implementation": ("IMPLEMENTING", "COMPLETED"),
    "research": ("RESEARCHING", "RESEARCHED"),
}
"""The status while an agent of a kind works, and when it is done (R1.30)."""
STATUSLESS = ("review", "utility")
"""The kinds that move no task's status."""
ARTIFACTS = {
    "planning": ("plan", "plans/implementation-{version:03d}.md"),
    "implementation": ("summary", "summaries/implementation-summary-{YYYYMMDD}.md"),
    "research": ("research", "reports/research-{version:03d}.md"),
    "review": ("summary", "summaries/review-summary-{YYYYMMDD}.md"),
}
"""The artifact that an agent of a kind always makes, and where in its task's folder (R1.20)."""
STRUCTURE = """\
<structure>
  {
    "status": "completed|partial|failed|blocked",
    "summary": "{what came out, in 2 to 5 sentences and fewer than 100 tokens}",
    "artifacts": [
      {"type": "{type}", "path": "{path from the project's root}", "summary": "{what it is}"}
    ],
    "metadata": {
      "session_id": "{session_id}",
      "agent_type": "{name of this agent}",
      "delegation_depth": 1,
      "delegation_path": ["{who called}", "{this agent}"],
      "duration_seconds": 0
    },
    "errors": []
  }
</structure>"""
VALIDATION = """\
<validation>
  The summary has fewer than 100 tokens, the session id is the one that was issued, every artifact is on disk, and the
  status is one of completed, partial, failed, blocked.
</validation>"""


def indent(lines: str, width: int = 2) -> str:
    """Every line moved to the right."""
    return "\n".join(f"{' ' * width}{line}" for line in lines.split("\n"))


def render_parameter(name: str) -> str:
    """One of the usual inputs."""
    kind, optional, text = USUAL_INPUTS[name]
    mark = ' optional="true"' if optional else ""
    return f'<parameter name="{name}" type="{kind}"{mark}>{text}</parameter>'


def render_error(name: str) -> str:
    """One of the usual types of errors."""
    parts = ("detection", "handling", "recovery", "logging")
    lines = [f"  <{part}>{text}</{part}>" for part, text in zip(parts, USUAL_ERRORS[name], strict=True)]
    return "\n".join([f'<error_type name="{name}">', *lines, "</error_type>"])


def render_artifact(kind: str, root: str) -> str:
    """The artifact that every agent of a kind makes."""
    word, tail = ARTIFACTS[kind]
    return (
        f'<artifact type="{word}">\n'
        f"  <path>{root}/{{number}}_{{slug}}/{tail}</path>\n"
        f"  <content>The {word} of the task.</content>\n"
        "  <validation>The file is there and not empty.</validation>\n"
        "</artifact>"
    )


def render_section(name: str, inner: str) -> str:
    """A section with something in it."""
    return f"<{name}>\n{indent(inner)}\n</{name}>"


def render_step(role: str, number: int, kind: str) -> str:
    """The step that every agent has at its beginning, before its end and at its end."""
    action, process, checkpoint = {"preflight": _begin, "postflight": _finish, "return": _answer}[role](kind)
    return (
        f"<step_{number}_{role}>\n  <action>{action}</action>\n  <process>\n{indent(process, 4)}\n  </process>\n"
        f"  <checkpoint>{checkpoint}</checkpoint>\n</step_{number}_{role}>"
    )


def _begin(kind: str) -> tuple[str, str, str]:
    check = "1. Validate every required input: it is there and has its type."
    if kind in STATUSLESS:
        return "Preflight: validate the inputs", f"{check}\n2. Return failed if one is missing.", "The inputs are valid"
    working, _ = STATUSES.get(kind, ("IN PROGRESS", "COMPLETED"))
    return (
        f"Preflight: validate the inputs and move the status to [{working}]",
        (
            f"{check}\n2. Ask status-sync-manager to update the status to [{working}].\n"
            "3. Verify that the status was updated, else return failed."
        ),
        f"The inputs are valid, the status is [{working}]",
    )


def _finish(kind: str) -> tuple[str, str, str]:
    check = "1. Verify that every artifact is on disk and not empty."
    commit = "Ask git-workflow-manager to create a commit of what was written."
    if kind in STATUSLESS:
        return "Postflight: verify the result and commit", f"{check}\n2. {commit}", "The work is committed"
    _, final = STATUSES.get(kind, ("IN PROGRESS", "COMPLETED"))
    return (
        f"Postflight: move the status to [{final}] and commit",
        f"{check}\n2. Ask status-sync-manager to update the status to [{final}].\n3. {commit}",
        f"The status is [{final}], the work is committed",
    )


def _answer(_kind: str) -> tuple[str, str, str]:
    process = "1. Format the return as return_format says.\n2. Validate it.\n3. Return it and nothing else."
    return "Return: format and validate the result", process, "The return is valid"
