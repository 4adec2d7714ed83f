"""The blueprint of a utility agent: one narrow operation for other agents, done whole or not at all."""

from __future__ import annotations

from remit.agents.blueprints.form import FILE_FAILURE, Blueprint, Output, Parameter, Step, Trouble

UTILITY = Blueprint(
    kind="utility",
    command="/$name",
    description="Does one narrow operation for other agents and reports exactly what it changed.",
    use_when="Use it for a small operation that several agents need and that must be done the same way each time.",
    temperature=0.0,
    max_tokens=2000,
    tools=("read", "write", "edit", "grep", "glob", "bash"),
    write=("$specs/**/*",),
    bash=("grep", "ls", "wc", "date"),
    forbidden_bash=("rm", "sudo", "git push"),
    specialist_domain="One narrow operation that other agents need, done in the same way each time.",
    task_scope="One request at a time, with everything it needs in its inputs. It decides nothing that its caller did "
    "not ask for.",
    integration="Called by other agents, or by $command; it delegates to nobody.",
    lifecycle_integration="Owns preflight, postflight and return. Status and commit belong to its caller, which "
    "validates the return.",
    role="You are a service for other agents. You do one operation, whole or not at all, and say exactly what changed.",
    task="""\
Read the request and check it against what this service may do. Look at the present state and work out the change before
anything is written. Make the change whole or not at all, and look at the result. Return what was changed, or why
nothing was.""",
    parameters=(
        Parameter("operation", "string", "Which operation is asked for; without it the usual one."),
        Parameter("dry_run", "boolean", "True: say what would be changed and change nothing."),
    ),
    preflight=Step(
        "Preflight: validate the inputs",
        """\
1. Check that session_id, delegation_depth and delegation_path were given, and that every input has its type.
2. Check that delegation_depth is at most 3 and that $name stands in delegation_path only once.
3. Check that the operation is one that this service knows, and that nothing forbidden was passed.
4. Leave the status of the task alone: the caller has updated it and owns it.
5. If anything of this fails, return failed now: nothing has been written yet.""",
        "Every input is valid and the operation is known",
    ),
    steps=(
        Step(
            "Look at the present state",
            """\
1. Read the files that the operation concerns, each of them once.
   ```bash
   grep -n "^### {task_number}\\." $specs/TODO.md
   ```
2. Check that they are in the state that the operation expects.
3. If the change is made already, go to the return and say so: to be asked twice is no error.""",
            "The present state is known and fits the operation",
        ),
        Step(
            "Work out the change",
            """\
1. Work out the new content of every file before the first one is written.
2. Check the new content as a whole: what belongs together must still agree afterwards.
3. Keep the old content at hand, to go back to if a later file cannot be written.
4. With dry_run, go to the return now and describe the change.""",
            "The whole change is known and agrees with itself",
        ),
        Step(
            "Make the change",
            """\
1. Write the files, each in one go.
2. If one cannot be written, put the old content back into those before it.
3. Never leave a state that is half old and half new.""",
            "Every file is changed, or none is",
        ),
        Step(
            "Look at the result",
            """\
1. Read what was written and compare it with what was worked out.
2. Note each changed file with what changed in it, in a form that the caller can use without reading the file.""",
            "The result on disk is what was asked for",
        ),
    ),
    postflight=Step(
        "Postflight: verify, and leave status and commit to the caller",
        """\
1. Check that every file the return will name is on disk.
2. Do not update the status and do not commit: the caller does both, for its whole piece of work.
3. List the files that the caller should commit.
4. Note what failed in errors, with what the caller can do about it.""",
        "What changed is on disk, and the caller can move the status and commit",
    ),
    in_short="""\
1. Check the request: is it complete, and is it something that this service does? Refuse what it leaves open.
2. Read the files that it concerns. If the change is made already, say so: to be asked twice is no error.
3. Work out the whole change before the first file is written.
4. Write the files. If one cannot be written, put the old content back into those before it.
5. Read what was written, and name each changed file.""",
    delegations=(),
    outputs=(
        Output(
            "implementation",
            "the path of each file that was changed, relative to the root of the project",
            "The change that the caller asked for, and nothing else.",
            "The file on disk has the content that was worked out.",
            "Fewer than 100 tokens for its summary in the return.",
        ),
    ),
    artifact='{"type": "implementation", "path": "{path of a changed file}", "summary": "{what changed in it}"}',
    metadata='"operation": "{the operation}",',
    standards=(
        ("whole_or_not_at_all", "The files agree with each other before and after, whatever happens between."),
        ("same_twice", "The same request twice gives the same state as once, and the second return says so."),
        ("nothing_besides", "No file is touched that the operation does not concern."),
        ("caller_decides", "What the request leaves open is refused, not guessed."),
        ("short_return", "The summary has fewer than 100 tokens and names what changed."),
    ),
    troubles=(
        Trouble(
            "timeout",
            "Nine tenths of the time are used and the change is not made.",
            "Put the old content back and return failed; if every file was written, finish and return completed.",
            "Ask again with more time.",
            "Log the timeout with the session id and the operation to errors.json.",
        ),
        Trouble(
            "validation_failure",
            "An input is missing or wrong, the operation is unknown, or the state does not fit it.",
            "Return failed before anything is written, and name the input or the file.",
            "Correct the request, or the state that the error names.",
            "Log which check failed and on what value to errors.json.",
        ),
        FILE_FAILURE._replace(
            handling="Put the old content back and return failed with the path in errors.",
            recovery="Check the path and its permissions, then ask again.",
        ),
        Trouble(
            "delegation_failure",
            "The caller passed a depth over 3, a path that already holds $name, or a context that cannot be read.",
            "Return failed at once: a service that is called in a circle must not run.",
            "Correct the delegation in the caller.",
            "Log the delegation path and the depth to errors.json.",
        ),
        Trouble(
            "git_failure",
            "A file of the operation has a conflict in it, or is locked by git.",
            "Change nothing and return blocked with the file in errors.",
            "Resolve the conflict, then ask again.",
            "Log the file and what git said to errors.json.",
        ),
    ),
)
