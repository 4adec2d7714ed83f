"""The form of a blueprint: what one kind of agent says where another says something else.

Owns the shape only; the texts are in the modules beside it, one per kind, and `scaffold` writes them out. In every text
`$name` is the agent's name, `$specs` the folder of the tasks, `$command` the command that calls the agent.
"""

from __future__ import annotations

from dataclasses import dataclass

from remit.quick_tuple import NamedTuple


class Step(NamedTuple):
    """One step of the process flow."""

    action: str
    process: str
    """Numbered lines."""
    checkpoint: str


class Parameter(NamedTuple):
    """An input of the agent beside those that every agent has."""

    name: str
    type: str
    text: str


class Output(NamedTuple):
    """A file that the agent makes."""

    type: str
    path: str
    content: str
    validation: str
    token_limit: str


class Delegation(NamedTuple):
    """When the agent calls a utility agent, and what it does with its return."""

    agent: str
    when: str
    context: str
    expected_return: str
    integration: str


class Trouble(NamedTuple):
    """How the agent meets one type of error."""

    type: str
    detection: str
    handling: str
    recovery: str
    logging: str


@dataclass(frozen=True, slots=True)
class Blueprint:
    """Everything that makes an agent of this kind."""

    kind: str
    command: str
    description: str
    use_when: str
    """The sentence by which a harness knows when to call it."""
    temperature: float
    max_tokens: int
    tools: tuple[str, ...]
    write: tuple[str, ...]
    """The patterns of the files that it may write."""
    bash: tuple[str, ...]
    """The commands that it may run."""
    forbidden_bash: tuple[str, ...]
    specialist_domain: str
    task_scope: str
    integration: str
    lifecycle_integration: str
    role: str
    task: str
    parameters: tuple[Parameter, ...]
    preflight: Step
    steps: tuple[Step, ...]
    postflight: Step
    in_short: str
    """The steps for a harness that has no utility agents and no status: numbered lines."""
    delegations: tuple[Delegation, ...]
    outputs: tuple[Output, ...]
    artifact: str
    """The artifact in the example of a return, as JSON."""
    metadata: str
    """What its return says besides, as lines of JSON."""
    standards: tuple[tuple[str, str], ...]
    troubles: tuple[Trouble, ...]


OWNS_LIFECYCLE = "Owns preflight, postflight and return. The command validates the return and relays it to the user."
READ_TASK = """\
1. With a task_number, read the entry of the task, and only this one:
   ```bash
   grep -A 40 "^### {task_number}\\." $specs/TODO.md
   ```
"""
"""How the first step of work on a task begins."""


def begin_task(working: str, done: str = "written") -> Step:
    """How work on a task begins: nothing has been done yet, and the status says what is."""
    return Step(
        f"Preflight: validate the inputs and move the status to [{working}]",
        f"""\
1. Check that session_id, delegation_depth and delegation_path were given, and that every input has its type.
2. Check that delegation_depth is at most 3 and that $name stands in delegation_path only once.
3. With a task_number, check that the task exists in $specs/TODO.md and is not [COMPLETED] or [ABANDONED].
4. With a task_number, ask status-sync-manager to update the status to [{working}], and validate its return.
5. If anything of this fails, return failed now: nothing has been {done} yet.""",
        f"Every input is valid and the status of the task is [{working}]",
    )


def hand_in(what: str, final: str) -> Step:
    """How work ends whose result is one file."""
    return Step(
        f"Postflight: move the status to [{final}] and commit",
        f"""\
1. Check that the {what} is on disk and not empty.
2. Ask status-sync-manager to update the status to [{final}] with the path of the {what}, and validate its return.
3. Ask git-workflow-manager to create a commit of the {what} and the task files, and validate its return.
4. Report what failed in errors. A failed commit leaves the result completed, a failed status makes it partial.""",
        f"The status is [{final}] and the {what} is committed, or the return says why not",
    )


def move_status(working: str, final: str) -> Delegation:
    """How an agent has the status of its task moved."""
    return Delegation(
        "status-sync-manager",
        f"At preflight, to move the task to [{working}]; at postflight, to move it to [{final}].",
        "operation, task_number, new_status, validated_artifacts (at postflight), session_id, delegation_depth + 1,\n"
        "delegation_path with its name appended, timeout 300.",
        "A return whose status is completed, once TODO.md, state.json and the plan say the same.",
        "Validate the return. At preflight, stop when it is not completed; at postflight, return partial and name it.",
    )


def commit(files: str, message: str) -> Delegation:
    """How an agent has its work committed."""
    return Delegation(
        "git-workflow-manager",
        f"At postflight, once {files} on disk.",
        f'scope_files (only the files of this run), message "{message}", session_id, delegation_depth + 1,\n'
        "delegation_path with its name appended, timeout 300.",
        "A return with the hash of the commit, or the reason why there is none.",
        "Validate the return. A failed commit is reported in errors and never undoes the work.",
    )


GIT_FAILURE = Trouble(
    "git_failure",
    "git-workflow-manager returns failed, or its answer has no hash.",
    "Go on: the files are on disk. Report the failure in errors as recoverable.",
    "Commit the files that the return names by hand.",
    "Log what git said with the session id to errors.json.",
)
DELEGATION_FAILURE = Trouble(
    "delegation_failure",
    "An agent that was called returns failed, something that isn't a valid return, or nothing in its timeout.",
    "Try once more. Then return partial with everything that is on disk, and name the agent in errors.",
    'Move the status by hand, or run "$command {task_number}" again.',
    "Log the agent, its inputs and its return to errors.json.",
)
FILE_FAILURE = Trouble(
    "file_operation_failure",
    "A file that must be there cannot be read, or a file that was written is missing or empty when looked at.",
    "Try once more. Then return failed if nothing is usable, partial if something is, with the path in errors.",
    'Check the path and its permissions, then run "$command {task_number}" again.',
    "Log the path, the operation and the reason to errors.json.",
)
