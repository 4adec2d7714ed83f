"""Default sections: texts that fixes and templates add to standard agents, with their layout.

The texts say what the standard requires of all agents. Authors adapt them after they are added.
"""

from __future__ import annotations

USUAL_INPUTS = {
    "task_number": ("integer", False, "The task that the run is for."),
    "session_id": ("string", False, "The session id that was issued for this run."),
    "delegation_depth": ("integer", False, "The depth of this run in its call chain."),
    "delegation_path": ("array", False, "The names in the call chain, starting with the first caller."),
    "language": ("string", True, "The programming language, if the task is about code."),
    "timeout": ("integer", True, "The time limit of this run in seconds."),
}
"""Type, whether it is optional, and description (R1.10)."""
USUAL_FORBIDDEN = ("conversation_history", "full_system_state", "unstructured_context")
USUAL_ERRORS = {
    "timeout": (
        "90 % of the time is used and the work isn't done.",
        "Save the unfinished work, leave the status unchanged, and return partial.",
        "Run the same command again to resume.",
        "Log the timeout with the session id to errors.json.",
    ),
    "validation_failure": (
        "An input is missing or invalid, or the return doesn't pass its validation.",
        "For an input, return failed before you write anything. For the return, correct it and validate it again.",
        "Correct the input in the error message and run the command again.",
        "Log the failed check and the value to errors.json.",
    ),
    "file_operation_failure": (
        "A file can't be read or written, or is empty after it was written.",
        "Retry once. Then return failed, or partial if a usable file exists.",
        "Check the path and its permissions.",
        "Log the path and the reason to errors.json.",
    ),
    "delegation_failure": (
        "A called agent returns failed, an invalid return, or nothing before its timeout.",
        "Continue without it if possible; otherwise return partial with the work so far.",
        "Do the agent's work manually, or run the command again.",
        "Log the called agent and its answer to errors.json.",
    ),
    "git_failure": (
        "git rejects the commit.",
        "Continue, because the files are written. Report the failure in the return.",
        "Commit manually.",
        "Log git's message to errors.json.",
    ),
}
"""Detection, handling, recovery and logging of each error type (R1.23)."""
STATUSES = {
    "planning": ("PLANNING", "PLANNED"),
    "implementation": ("IMPLEMENTING", "COMPLETED"),
    "research": ("RESEARCHING", "RESEARCHED"),
}
"""The task's status during a run and after it, by the agent's type (R1.30)."""
STATUSLESS = ("review", "utility")
"""The types of agents that don't change a task's status."""
ARTIFACTS = {
    "planning": ("plan", "plans/implementation-{version:03d}.md"),
    "implementation": ("summary", "summaries/implementation-summary-{YYYYMMDD}.md"),
    "research": ("research", "reports/research-{version:03d}.md"),
    "review": ("summary", "summaries/review-summary-{YYYYMMDD}.md"),
}
"""The artifact that each type of agent creates, and its path in the task's folder (R1.20)."""
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
    """Indent each line."""
    return "\n".join(f"{' ' * width}{line}" for line in lines.split("\n"))


def render_parameter(name: str) -> str:
    """Render a usual input."""
    kind, optional, text = USUAL_INPUTS[name]
    mark = ' optional="true"' if optional else ""
    return f'<parameter name="{name}" type="{kind}"{mark}>{text}</parameter>'


def render_error(name: str) -> str:
    """Render a usual error type."""
    parts = ("detection", "handling", "recovery", "logging")
    lines = [f"  <{part}>{text}</{part}>" for part, text in zip(parts, USUAL_ERRORS[name], strict=True)]
    return "\n".join([f'<error_type name="{name}">', *lines, "</error_type>"])


def render_artifact(kind: str, root: str) -> str:
    """Render the artifact of a type of agent."""
    word, tail = ARTIFACTS[kind]
    return (
        f'<artifact type="{word}">\n'
        f"  <path>{root}/{{number}}_{{slug}}/{tail}</path>\n"
        f"  <content>The {word} of the task.</content>\n"
        "  <validation>The file is there and not empty.</validation>\n"
        "</artifact>"
    )


def render_section(name: str, inner: str) -> str:
    """Render a section with its content."""
    return f"<{name}>\n{indent(inner)}\n</{name}>"


def render_step(role: str, number: int, kind: str) -> str:
    """Render the preflight, postflight or return step."""
    action, process, checkpoint = {
        "preflight": _describe_preflight,
        "postflight": _describe_postflight,
        "return": _describe_return,
    }[role](kind)
    return (
        f"<step_{number}_{role}>\n  <action>{action}</action>\n  <process>\n{indent(process, 4)}\n  </process>\n"
        f"  <checkpoint>{checkpoint}</checkpoint>\n</step_{number}_{role}>"
    )


def _describe_preflight(kind: str) -> tuple[str, str, str]:
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


def _describe_postflight(kind: str) -> tuple[str, str, str]:
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


def _describe_return(_kind: str) -> tuple[str, str, str]:
    process = "1. Format the return as return_format says.\n2. Validate it.\n3. Return it and nothing else."
    return "Return: format and validate the result", process, "The return is valid"
