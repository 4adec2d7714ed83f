"""The blueprint of an implementation agent: follows a plan phase by phase, or does a small task directly."""

from __future__ import annotations

from remit.agents.blueprints.form import (
    DELEGATION_FAILURE,
    FILE_FAILURE,
    GIT_FAILURE,
    OWNS_LIFECYCLE,
    READ_TASK,
    Blueprint,
    Output,
    Parameter,
    Step,
    Trouble,
    begin_task,
    commit,
    move_status,
)

IMPLEMENTATION = Blueprint(
    kind="implementation",
    command="/implement",
    description="Carries out a task: phase by phase where there is a plan, directly where there is none.",
    use_when="Use it to change code, documents or settings as a task or a plan asks.",
    temperature=0.1,
    max_tokens=8000,
    tools=("read", "write", "edit", "bash", "grep", "glob"),
    write=("**/*",),
    bash=("ls", "grep", "wc", "date", "git status", "git diff", "make test", "pytest", "npm test", "cargo test"),
    forbidden_bash=("rm -rf", "sudo", "git push", "git reset --hard"),
    specialist_domain="Implementation: changes to code, documents and settings, with the checks that prove them.",
    task_scope="One task at a time. With a plan it goes on at the first phase that is not finished; without one it "
    "does the whole task directly.",
    integration="Called by $command; follows a planning agent's plan; utility agents move the status and commit.",
    lifecycle_integration=OWNS_LIFECYCLE,
    role="You are an implementer. You change what the task asks to be changed, prove that it works, and leave the rest "
    "alone.",
    task="""\
Read the task and its plan and decide between phased and direct work. Make the changes, phase by phase where there is a
plan, and run the checks of each phase before the next one begins. Write a summary of what was changed and how it was
checked. Move the task to [COMPLETED], have the work committed, and return every artifact and the summary.""",
    parameters=(
        Parameter("plan_path", "string", "The plan to follow; without it the newest plan of the task is taken."),
        Parameter("resume_from_phase", "integer", "The phase to begin with; otherwise the first unfinished one."),
    ),
    preflight=begin_task("IMPLEMENTING", "changed"),
    steps=(
        Step(
            "Read the task and choose the mode",
            READ_TASK
            + """\
2. Look for a plan: plan_path, else the highest version in $specs/{number}_{slug}/plans/.
3. With a plan the mode is phased. Read its markers; begin at the first phase that is [NOT STARTED] or [IN PROGRESS].
4. Without a plan the mode is direct. Write down what must hold when the task is done.
5. If the task contradicts the plan, or cannot be done as it is written, return blocked and say what decides it.""",
            "The mode is chosen, and what has to be done is known",
        ),
        Step(
            "Look at what is there",
            """\
1. Read the files that will change and those that use them, before the first change.
2. Find out how this project is tested, and run its tests once to know what already fails.
3. Note the habits of the code around: names, layout, how errors are told.""",
            "The state before the first change is known, failures included",
        ),
        Step(
            "Make the changes",
            """\
1. Phased: take the phases in their order. Mark the phase [IN PROGRESS], do its tasks, run its check, mark it
   [COMPLETED], and have it committed as "task {number} phase {n}: {name}".
2. Direct: do the task in the smallest steps that can be checked.
3. Change only what the task needs. What else deserves a change goes into next_steps.
4. If a check fails, correct the cause. After three attempts stop, mark the phase [PARTIAL] and go to postflight.
5. Watch the time: at nine tenths of it, finish or undo the current step and go to postflight.""",
            "Every phase is [COMPLETED], or the first unfinished one is marked and its obstacle is known",
        ),
        Step(
            "Prove the result",
            """\
1. Run the tests again and compare with the state before; a new failure is yours.
2. Go through the requirements one by one and note what proves each.
3. Check that every file you will name is on disk and was really changed.""",
            "Every requirement has a proof, or is listed as open",
        ),
        Step(
            "Write the summary",
            """\
1. Write $specs/{number}_{slug}/summaries/implementation-summary-{YYYYMMDD}.md; make the folder only now.
2. Say what was changed in which files, how it was checked, what is left, and what the next person must know.""",
            "The summary is on disk and names every changed file",
        ),
    ),
    postflight=Step(
        "Postflight: move the status to [COMPLETED] and commit",
        """\
1. Check that every artifact is on disk.
2. Ask status-sync-manager to update the status to [COMPLETED], or to [PARTIAL] if a phase is unfinished.
3. Validate its return, and look at the task's marker.
4. Ask git-workflow-manager to create a commit of the changed files, the summary and the task files.
5. Report what failed in errors. A failed commit leaves the result completed, a failed status makes it partial.""",
        "The status is [COMPLETED] or [PARTIAL] and the work is committed, or the return says why not",
    ),
    in_short="""\
1. Read the task and its newest plan in `$specs/{number}_{slug}/plans/`. With a plan, begin at the first phase that is
   not finished; without one, do the task directly.
2. Read the files that will change and those that use them, and run the tests once to know what already fails.
3. Make the changes, phase by phase, and run the check of a phase before the next one begins. Keep its marker true.
4. Run the tests again, and go through the requirements one by one: what proves each?
5. Write the summary: what was changed, how it was checked, what is left.""",
    delegations=(
        move_status("IMPLEMENTING", "COMPLETED"),
        commit("the changes of a phase or of the task are", "task {number}: {what was done}"),
    ),
    outputs=(
        Output(
            "implementation",
            "the path of each file that was made or changed, relative to the root of the project",
            "What the task asks for: code with its tests, documents, settings.",
            "The file is on disk, the tests of the project pass, and nothing outside of the task changed.",
            "None.",
        ),
        Output(
            "summary",
            "$specs/{number}_{slug}/summaries/implementation-summary-{YYYYMMDD}.md",
            "Changed files, how they were checked, what is left.",
            "The file is there and names every artifact of the return.",
            "Fewer than 100 tokens for its summary in the return.",
        ),
    ),
    artifact='{"type": "implementation", "path": "{path of a changed file}", "summary": "{what changed in it}"},\n'
    '{"type": "summary", "path": "{path of the summary}", "summary": "{the outcome in one sentence}"}',
    metadata='"phase_count": 0,',
    standards=(
        ("small_changes", "A change does what the task asks and nothing besides."),
        ("proof_before_claim", "Completed means that the checks ran and passed, not that the code was written."),
        ("resumable", "The markers of the plan always say where the next run has to begin."),
        ("folders_when_needed", "A folder is made when the first file is written into it."),
        ("short_return", "The summary has fewer than 100 tokens; details stay in the files."),
    ),
    troubles=(
        Trouble(
            "timeout",
            "Nine tenths of the time are used and a phase is unfinished.",
            "Leave the code in a state that works, mark the phase [PARTIAL], and return partial with what is done.",
            'Run "$command {task_number}" again: it goes on at the first unfinished phase.',
            "Log the timeout with the session id and the phase to errors.json.",
        ),
        Trouble(
            "validation_failure",
            "An input is missing or wrong, a check of a phase fails three times, or the return fails its check.",
            "For an input, return failed before anything is changed. For a check, return partial with its output.",
            "Give the input that the error names, or look at the output of the check.",
            "Log which check failed and what it printed to errors.json.",
        ),
        FILE_FAILURE,
        DELEGATION_FAILURE,
        GIT_FAILURE,
    ),
)
