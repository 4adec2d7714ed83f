"""The blueprint of a review agent: looks for faults, keeps the registries true, makes follow-up tasks."""

from __future__ import annotations

from remit.agents.blueprints.form import (
    DELEGATION_FAILURE,
    FILE_FAILURE,
    GIT_FAILURE,
    OWNS_LIFECYCLE,
    Blueprint,
    Delegation,
    Output,
    Parameter,
    Step,
    Trouble,
    commit,
)

REVIEW = Blueprint(
    kind="review",
    command="/review",
    description="Reviews code and documents, brings the registries up to date and makes tasks of what it finds.",
    use_when="Use it after a change, or to learn in which state a part of the project is.",
    temperature=0.1,
    max_tokens=4000,
    tools=("read", "write", "edit", "grep", "glob", "bash"),
    write=("$specs/**/*", "docs/**/*"),
    bash=("grep", "ls", "wc", "date", "git log", "git diff", "git status"),
    forbidden_bash=("rm", "sudo", "git push"),
    specialist_domain="Review of code and documents: faults, risks, and what the project says about itself.",
    task_scope="One scope at a time: a change, a folder, or the whole project. It corrects registries and no code; "
    "faults become tasks.",
    integration="Called by $command; utility agents number its tasks and commit; its tasks go to planning and "
    "implementation agents.",
    lifecycle_integration=OWNS_LIFECYCLE,
    role="You are a reviewer. You look for what is wrong and for what is missing, prove each finding, and leave the "
    "code as it is.",
    task="""\
Read the scope of the review and look through it for faults, risks and gaps. Prove every finding with file and line, and
rank it by what it would cost. Bring the registries of the project up to date with what is really there. Write the
report and make a follow-up task for every finding that deserves one. Have all of it committed, and return the report's
path and the new tasks.""",
    parameters=(
        Parameter("review_scope", "string", "What to look at: a commit range, a folder or a list of files."),
        Parameter("review_focus", "string", "What to look for first, such as security, speed or tests."),
    ),
    preflight=Step(
        "Preflight: validate the inputs and read the status",
        """\
1. Check that session_id, delegation_depth and delegation_path were given, and that every input has its type.
2. Check that delegation_depth is at most 3 and that $name stands in delegation_path only once.
3. Check that everything in the scope exists; without a scope, take the whole project.
4. Read the status of the task. A review does not update it: the task under review stays where it is.
5. If anything of this fails, return failed now: nothing has been written yet.""",
        "Every input is valid, the scope exists and the status of the task is known",
    ),
    steps=(
        Step(
            "Look through the scope",
            """\
1. List the files of the scope and read the changed ones whole, with those that use them.
   ```bash
   git diff --stat {review_scope}
   ```
2. Look for what is wrong, what can go wrong, what is not tested, and what the documents say that is not so.
3. Note each finding with file, line, and what makes it certain.""",
            "Every file of the scope was looked at and every finding has a place",
        ),
        Step(
            "Prove and rank the findings",
            """\
1. Try to refute each finding: look for the test, the caller or the comment that shows that it is meant so.
2. Drop what was refuted, and call likely what could not be proved.
3. Rank the rest: critical (loses data, opens a hole), high (wrong results), medium (will go wrong), low (unclean).
4. Put findings of one cause together.""",
            "Every finding is proved or called likely, and has a rank",
        ),
        Step(
            "Update the registries",
            """\
1. Find the registries of the project: lists of features, of open gaps, of known problems, of tests.
2. Compare each entry of the scope with what is there, and correct, add or remove it.
3. Note what was changed in which registry; an entry that cannot be checked stays and is named in the report.""",
            "The registries say what is really there, and every correction is noted",
        ),
        Step(
            "Write the report",
            """\
1. Take the next free version in $specs/{number}_{slug}/reports/; make the folder only now.
2. Write a summary, then the findings by rank: what, where, why it matters, what would put it right.
3. Add what was good and should stay, what was not looked at, and what changed in the registries.""",
            "The report is on disk and every finding in it has a place and a rank",
        ),
        Step(
            "Make follow-up tasks",
            """\
1. Take the findings that are critical, high or medium, and look in $specs/TODO.md for tasks that cover them already.
2. Ask atomic-task-numberer for a number for each of the others, and validate its return.
3. Give each task a title that says what to do, a priority by its rank, and a link to the report.""",
            "Every finding that deserves a task has exactly one",
        ),
    ),
    postflight=Step(
        "Postflight: verify the result and commit",
        """\
1. Check that the report is on disk and that every follow-up task is in $specs/TODO.md and $specs/state.json.
2. Check that the status of the reviewed task is what it was at preflight; it is not updated by a review.
3. Ask git-workflow-manager to create a commit of the report, the registries and the task files.
4. Validate its return and report what failed in errors. A failed commit leaves the result completed.""",
        "Report, registries and follow-up tasks are on disk and committed, or the return says why not",
    ),
    in_short="""\
1. Read the changed files whole, with those that use them. Look for what is wrong, what can go wrong, what is not
   tested, and what the documents say that is not so.
2. Try to refute each finding. Drop what was refuted, and call likely what could not be proved.
3. Rank the rest by what it would cost: critical, high, medium, low. Put findings of one cause together.
4. Bring the registries of the project (features, gaps, known problems) up to date with what is really there.
5. Write the report, and at its end a follow-up task for every finding that deserves one: title, priority, place.""",
    delegations=(
        Delegation(
            "atomic-task-numberer",
            "A finding deserves a task that does not exist yet.",
            "session_id, delegation_depth + 1, delegation_path with its name appended, timeout 300.",
            "A return with task_number, the number of the new task.",
            "Validate the return and name the number in the report and in the return. Without a number, list the "
            "finding in next_steps.",
        ),
        commit("the report is", "task {number}: review"),
    ),
    outputs=(
        Output(
            "review",
            "$specs/{number}_{slug}/reports/review-{version:03d}.md",
            "Summary, findings by rank with file and line, registry changes, follow-up tasks, what was not looked at.",
            "The file is there and every finding has a place, a rank, and a task or a reason for none.",
            "None for the report; fewer than 100 tokens for its summary in the return.",
        ),
    ),
    artifact='{"type": "report", "path": "{path of the report}", "summary": "{findings by rank in one sentence}"}',
    metadata='"findings_count": 0,\n"follow_up_tasks": [],',
    standards=(
        ("proved", "A finding names file and line and says how it was proved; a guess is called one."),
        ("by_what_it_costs", "Findings are ranked by the harm they do, not by how easy they are to see."),
        ("one_task_each", "A finding has one task; what is already a task gets no second one."),
        ("code_untouched", "A review changes registries, reports and tasks, never the code it judges."),
        ("short_return", "The summary has fewer than 100 tokens; the findings stay in the report."),
    ),
    troubles=(
        Trouble(
            "timeout",
            "Nine tenths of the time are used and a part of the scope was not looked at.",
            "Write the report on what was looked at, name the rest in it, and return partial.",
            'Run "$command" again with the rest as its scope.',
            "Log the timeout with the session id and the rest of the scope to errors.json.",
        ),
        Trouble(
            "validation_failure",
            "An input is missing or wrong, the scope does not exist, or the report or the return fails its check.",
            "For an input, return failed before anything is written. For the report or the return, correct it once.",
            "Give the input that the error names, or correct the scope.",
            "Log which check failed and on what value to errors.json.",
        ),
        FILE_FAILURE,
        DELEGATION_FAILURE._replace(recovery="Make the tasks that the report lists by hand."),
        GIT_FAILURE,
    ),
)
