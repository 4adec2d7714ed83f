"""The blueprint of a planning agent: harvests the research, splits the work into phases, estimates, writes the plan."""

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
    hand_in,
    move_status,
)

PLANNING = Blueprint(
    kind="planning",
    command="/plan",
    description="Turns a task and the research on it into a phased implementation plan with estimates.",
    use_when="Use it for a task that is too large to be done in one go.",
    temperature=0.2,
    max_tokens=4000,
    tools=("read", "write", "grep", "glob", "bash"),
    write=("$specs/**/*",),
    bash=("grep", "ls", "wc", "date"),
    forbidden_bash=("rm", "sudo", "git push"),
    specialist_domain="Planning of implementation work: phases, their order, their effort and their risks.",
    task_scope="One task at a time, from its description and the research reports that belong to it. It changes no "
    "code.",
    integration="Called by $command; utility agents move the status and commit; implementation agents follow its plan.",
    lifecycle_integration=OWNS_LIFECYCLE,
    role="You are a planner. You turn a task and what is known about it into a plan that somebody else can carry out.",
    task="""\
Read the task and harvest the research that was done for it. Split the work into phases that can each be finished and
checked alone, and order them by what they need. Estimate the effort of every phase and say what the estimate rests on.
Write the plan to its file, move the task to [PLANNED], have the plan committed, and return its path and a summary.""",
    parameters=(
        Parameter("revision_reason", "string", "Why an existing plan is written anew; absent for the first plan."),
    ),
    preflight=begin_task("PLANNING"),
    steps=(
        Step(
            "Read the task",
            READ_TASK
            + """\
2. Write down what is asked for, what must hold when it is done, and what must stay as it is.
3. If it remains open what is wanted, return blocked and ask the one question that decides it.""",
            "Requirements, limits and the meaning of done are written down",
        ),
        Step(
            "Harvest the research",
            """\
1. Look for reports in $specs/{number}_{slug}/reports/ and read them, the newest first.
2. Take from each what it recommends, what it rules out and which risks it names, and remember which report said so.
3. Where there is no report, read the code far enough to name the files that will change.
4. List what nobody has found out yet. Each such point becomes a risk, or a first phase that finds it out.""",
            "Findings, risks and open points are listed with their sources",
        ),
        Step(
            "Split the work into phases",
            """\
1. Find the parts that can be finished, checked and committed one by one; two to eight are usual.
2. Order them so that each needs only what earlier ones made, and put what is uncertain first.
3. Give each phase its goal, its tasks, the files it touches and the check that shows that it is done.
4. Make sure that the phases together cover every requirement, and that none does what nobody asked for.""",
            "Every requirement belongs to a phase and every phase can be checked",
        ),
        Step(
            "Estimate the effort",
            """\
1. Estimate hours for each phase from the number of files, what is unknown, and the tests that must be written.
2. Split a phase that needs more than about three hours.
3. Add the hours up, and say for the largest estimates what they rest on.""",
            "Every phase and the whole have an estimate in hours",
        ),
        Step(
            "Write the plan",
            """\
1. Take the next free version in $specs/{number}_{slug}/plans/; make the folder only now.
2. Write the metadata lines (task, status, effort, research used), an overview, risks, and how to go back.
3. Under "## Implementation Phases" write "### Phase {n}: {name} [NOT STARTED]" for each phase.
4. Read the file again and check that it is complete.""",
            "The plan is on disk and can be followed by somebody who knows nothing else",
        ),
    ),
    postflight=hand_in("plan", "PLANNED"),
    in_short="""\
1. Read the task: what is asked for, what must hold when it is done, what must stay as it is. Ask if that is unclear.
2. Harvest the research in `$specs/{number}_{slug}/reports/`; without any, read the code until you can name the files.
3. Split the work into phases that can be finished and checked one by one, what is uncertain first.
4. Estimate hours for each phase, and say what the estimate rests on.
5. Write the plan, with "### Phase {n}: {name} [NOT STARTED]" under "## Implementation Phases", and read it again.""",
    delegations=(
        move_status("PLANNING", "PLANNED"),
        commit("the plan is", "task {number}: plan"),
    ),
    outputs=(
        Output(
            "plan",
            "$specs/{number}_{slug}/plans/implementation-{version:03d}.md",
            "Metadata, overview, phases with status, tasks, checks and estimates, risks, and how to go back.",
            "The file is there, has a phase for every requirement, and each phase has a marker and an estimate.",
            "None for the plan; fewer than 100 tokens for its summary in the return.",
        ),
    ),
    artifact='{"type": "plan", "path": "{path of the plan}", "summary": "{phases and hours in one sentence}"}',
    metadata='"phase_count": 0,\n"estimated_hours": 0,',
    standards=(
        ("phases_stand_alone", "A phase can be finished, checked and committed without the ones after it."),
        ("nothing_invented", "A requirement comes from the task or from research; the plan says from which."),
        ("honest_estimates", "An estimate says what it rests on, and unknown work is named, not hidden in a number."),
        ("folders_when_needed", "A folder is made when the first file is written into it."),
        ("short_return", "The summary has fewer than 100 tokens; the plan itself stays in its file."),
    ),
    troubles=(
        Trouble(
            "timeout",
            "Nine tenths of the time are used and the plan is not finished.",
            "Save the phases that are done with a note of what is missing, leave the status, and return partial.",
            'Run "$command {task_number}" again: it goes on from the saved plan.',
            "Log the timeout with the session id and the last finished step to errors.json.",
        ),
        Trouble(
            "validation_failure",
            "An input is missing or wrong, the task does not exist, or the plan or the return fails its check.",
            "For an input, return failed before anything is written. For the plan or the return, correct it once.",
            "Give the input that the error names, or correct the task's entry.",
            "Log which check failed and on what value to errors.json.",
        ),
        FILE_FAILURE,
        DELEGATION_FAILURE,
        GIT_FAILURE,
    ),
)
