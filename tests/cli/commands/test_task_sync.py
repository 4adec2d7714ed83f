"""`remit task sync`, as its users meet it: hand edits, merges and broken files, in real repositories."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from remit.tasks.drift import DIAGNOSTICS
from tests.support.commands import Ended, Inside, Remit, put
from tests.support.file_trees import list_files
from tests.support.git_command import git
from tests.support.screen_text import smooth
from tests.support.task_files import COMPLETED, PROJECTS, STATE, TODO, make_state


@pytest.fixture
def workspace(inside: Inside, tmp_path: Path) -> Inside:
    """A folder with tasks."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "specs").mkdir()
    inside.write("specs/state.json", STATE)
    inside.write("specs/TODO.md", TODO)
    return inside


def test_files_that_agree_are_one_line_and_stay_as_they_are(workspace: Inside) -> None:
    before = sorted((path.name, path.stat().st_mtime_ns) for path in workspace.folder.rglob("*"))
    ended = workspace("task", "sync", "--check")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == snapshot("✓ specs: 3 tasks · state.json and TODO.md agree\n")
    assert sorted((path.name, path.stat().st_mtime_ns) for path in workspace.folder.rglob("*")) == before


def test_a_priority_that_differs_is_not_called_agreement(workspace: Inside) -> None:
    workspace.write("specs/TODO.md", TODO.replace("[PLANNED]", "[PLANNED]\n- **Priority**: Low"))
    ended = workspace("task", "sync", "--check")
    assert (ended.code, ended.text.splitlines()[-1]) == (
        1,
        snapshot("✗ specs: 3 tasks · state.json and TODO.md differ · 1 warning"),
    )
    assert "[SYN022]" in ended.text
    ended = workspace("task", "sync")
    assert (ended.code, ended.text.splitlines()[-1]) == (
        1,
        snapshot("✗ state.json and TODO.md differ · 1 warning"),
    )
    assert "state.json and TODO.md do not agree: 1 difference" in workspace("doctor").text
    assert "drift      1 difference" in workspace("status").text


def test_a_difference_is_shown_with_both_values(workspace: Inside) -> None:
    workspace.write("specs/TODO.md", TODO.replace("[PLANNED]", "[COMPLETED]"))
    ended = workspace("task", "sync", "--check")
    assert ended.code == 1
    assert ended.text == snapshot(
        "error[SYN004]: task 12 is [COMPLETED] here and planned in state.json (line 7)\n"
        "  --> specs/TODO.md:11:15\n"
        "   |\n"
        "11 | - **Status**: [COMPLETED]\n"
        "   |               ^^^^^^^^^^^\n"
        "   |\n"
        "   = help: If planned is right: remit task sync --from state. If [COMPLETED] is right: remit task sync --from todo.\n"
        "   = see: remit explain SYN004\n"
        "\n"
        "✗ specs: 3 tasks · state.json and TODO.md differ · 1 error\n"
    )


def test_every_format_says_the_same(workspace: Inside) -> None:
    workspace.write("specs/state.json", STATE + STATE)
    (listed,) = json.loads(workspace("task", "sync", "--check", "--json").text)["items"]
    assert (listed["code"], listed["filename"]) == ("SYN001", "specs/state.json")
    assert workspace("task", "sync", "--check", "--output-format", "github").text.startswith(
        "::error file=specs/state.json,"
    )
    assert workspace("task", "sync", "--check", "--output-format", "concise").text.startswith(
        "specs/state.json:25:1: SYN001 "
    )


@pytest.mark.parametrize("place", [".opencode/specs", ".claude/specs", "specs"])
def test_tasks_are_looked_for_where_they_are_kept(place: str, inside: Inside) -> None:
    (inside.folder / place).mkdir(parents=True)
    assert inside("task", "sync", "--check").text.startswith("no tasks found")
    inside.write(f"{place}/TODO.md", TODO)
    ended = inside("task", "sync", "--check", "--output-format", "concise")
    assert ended.code == 1
    assert ended.text.startswith(f"{place}/state.json: SYN008 ")


def test_a_workspace_without_tasks_is_fine(inside: Inside) -> None:
    ended = inside("task", "sync", "--check")
    assert (ended.code, ended.text) == (
        0,
        snapshot("no tasks found in .opencode/specs, .claude/specs or specs: nothing to compare\n"),
    )
    assert json.loads(inside("task", "sync", "--check", "--json").text) == {"items": [], "total": 0}


def test_a_file_that_cannot_be_read_is_told(workspace: Inside) -> None:
    (workspace.folder / "specs/TODO.md").unlink()
    (workspace.folder / "specs/TODO.md").mkdir()
    ended = workspace("task", "sync", "--check")
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "'specs/TODO.md' isn't a file; move it away, or restore the file from git"
    )


@pytest.mark.parametrize("code", DIAGNOSTICS)
def test_every_code_is_explained(code: str, inside: Inside) -> None:
    text = inside("explain", code).text
    assert all(f"\n{word}: " in text for word in ("Why", "Bad", "Good"))


# In a real repository


@pytest.fixture
def repository(workspace: Inside) -> Inside:
    """The same with a history, in which both files agreed once."""
    (workspace.folder / ".git").rmdir()
    git(workspace.folder, "init", "-q", "-b", "main")
    assert workspace("task", "sync").text == "✓ state.json and TODO.md agree: nothing to do\n"
    commit(workspace, "one")
    return workspace


def commit(remit: Remit, message: str) -> None:
    git(remit.folder, "add", "-A")
    git(remit.folder, "commit", "-q", "--allow-empty", "-m", message)


def edit(remit: Remit, name: str, old: str, new: str) -> None:
    file = remit.folder / "specs" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def read(remit: Remit, name: str) -> str:
    return (remit.folder / "specs" / name).read_text()


def read_words(*texts: str) -> set[str]:
    """What a person wrote: words, and numbers but for those that are worked out."""
    return {word for text in texts for word in re.findall(r"[A-Za-z][\w.]+", text)}


def list_statuses(remit: Remit) -> dict[int, str]:
    return {each["number"]: each["marker"] for each in json.loads(remit("task", "list", "--json").out)["items"]}


def assert_settled(remit: Remit, ended: Ended) -> None:
    """After a repair the files agree, or it is told what a person has to do; a second one finds nothing more."""
    assert b"this is a bug" not in ended.err
    assert remit("task", "sync", "--check").code == ended.code
    if ended.code:
        assert "= help: " in ended.text
    before = list_files(remit.folder / "specs")
    again = remit("task", "sync", "--repair", "--json")
    assert json.loads(again.out)["done"] == []
    assert again.code == ended.code
    assert list_files(remit.folder / "specs") == before


def test_a_status_edited_in_todo_is_taken_in(repository: Inside) -> None:
    edit(repository, "TODO.md", "[PLANNED]", "[IMPLEMENTING]")
    todo = read(repository, "TODO.md")
    assert repository("task", "sync", "--check").code == 1
    ended = repository("task", "sync")
    assert (ended.code, ended.err) == (0, b"")
    assert ended.text == snapshot(
        "✓ set task 12 to IMPLEMENTING in state.json, as in TODO.md (it was planned)\n✓ state.json and TODO.md agree\n"
    )
    assert read(repository, "TODO.md") == todo
    assert read(repository, "state.json") == STATE.replace('"planned"', '"implementing"')
    assert repository("task", "sync").text == snapshot("✓ state.json and TODO.md agree: nothing to do\n")


def test_a_status_edited_in_state_is_followed(repository: Inside) -> None:
    edit(repository, "state.json", '"not_started"', '"completed"')
    assert repository("task", "sync").code == 0
    assert read(repository, "TODO.md") == TODO.replace("[NOT STARTED]", "[COMPLETED]")


def test_a_status_edited_illegally_is_told_with_both_values_and_the_command(repository: Inside) -> None:
    edit(repository, "TODO.md", "[NOT STARTED]", "[COMPLETED]")
    before = list_files(repository.folder / "specs")
    for args in ((), ("--repair",)):
        ended = repository("task", "sync", *args)
        assert ended.code == 1
        assert ended.text == snapshot(
            "error[SYN018]: task 13 was set to [COMPLETED] here by hand, but is not_started in state.json: "
            "a task that is NOT STARTED can't become COMPLETED\n"
            "  --> specs/TODO.md:20:15\n"
            "   |\n"
            "20 | - **Status**: [COMPLETED]\n"
            "   |               ^^^^^^^^^^^\n"
            "   |\n"
            "   = help: If [COMPLETED] is right: remit task sync --from todo. If not: remit task sync --from state.\n"
            "   = see: remit explain SYN018\n"
            "\n"
            "✗ state.json and TODO.md differ · 1 error\n"
        )
    assert list_files(repository.folder / "specs") == before
    assert repository("task", "sync", "--output-format", "concise").text.startswith(
        "specs/TODO.md:20:15: SYN018 error "
    )
    assert repository("task", "sync", "--output-format", "github").text.startswith(
        "::error file=specs/TODO.md,line=20,"
    )
    told = json.loads(repository("task", "sync", "--json").out)
    assert [(each["code"], each["filename"]) for each in told["diagnostics"]] == [("SYN018", "specs/TODO.md")]
    assert repository("task", "sync", "--from", "todo").code == 0
    assert list_statuses(repository)[13] == "COMPLETED"


@pytest.mark.parametrize(("side", "marker"), [("todo", "BLOCKED"), ("state", "IMPLEMENTING")])
def test_a_status_edited_in_both_is_for_a_person(repository: Inside, side: str, marker: str) -> None:
    edit(repository, "TODO.md", "[PLANNED]", "[BLOCKED]")
    edit(repository, "state.json", '"planned"', '"implementing"')
    for args in ((), ("--repair",)):
        ended = repository("task", "sync", *args)
        assert ended.code == 1
        assert "task 12 was PLANNED, but is [BLOCKED] here and implementing in state.json (line 7)\n" in ended.text
    ended = repository("task", "sync", "--from", side)
    assert (ended.code, list_statuses(repository)[12]) == (0, marker)
    assert_settled(repository, ended)


def test_the_options_exclude_each_other(repository: Inside) -> None:
    for args in (("--check", "--repair"), ("--check", "--from", "todo")):
        assert repository("task", "sync", *args).complaint.startswith("can't combine --check")
    assert repository("task", "sync", "--from", "tod").complaint == snapshot(
        "expected todo or state, got 'tod'; did you mean 'todo'?"
    )
    assert repository("task", "sync", "--from", "").code == 2
    assert repository("task", "sync", "extra").code == 2


def test_a_task_typed_into_todo_is_taken_into_state(repository: Inside) -> None:
    new = "\n### 14. Write docs\n- **Effort**: 3 days\n- **Status**: [RESEARCHED]\n\nWith *examples*.\n"
    put(repository, "specs/TODO.md", TODO + new)
    assert repository("task", "sync").code == 1
    ended = repository("task", "sync", "--repair")
    assert "✓ added task 14 to state.json as RESEARCHED: it was only in TODO.md\n" in ended.text
    assert_settled(repository, ended)
    assert list_statuses(repository)[14] == "RESEARCHED"
    assert "\n    14  [RESEARCHED]     Write docs\n" in repository("task", "list").text
    assert read(repository, "TODO.md") == (TODO + new).replace("next_project_number: 14", "next_project_number: 15")


def test_a_task_typed_with_a_number_that_is_taken_gets_another(repository: Inside) -> None:
    put(repository, "specs/TODO.md", f"{TODO}\n### 12. Write docs\n- **Status**: [PLANNED]\n\nWith *examples*.\n")
    ended = repository("task", "sync", "--repair")
    assert ended.code == 0
    assert_settled(repository, ended)
    assert list_statuses(repository) == {12: "PLANNED", 13: "NOT STARTED", 14: "PLANNED"}
    assert "### 14. Write docs\n- **Status**: [PLANNED]\n\nWith *examples*.\n" in read(repository, "TODO.md")


def test_a_task_taken_out_of_todo_comes_back(repository: Inside) -> None:
    put(repository, "specs/TODO.md", TODO.partition("### 13.")[0])
    ended = repository("task", "sync")
    assert ended.code == 1
    assert "task 13 is in state.json but not in TODO.md" in ended.text
    ended = repository("task", "sync", "--repair")
    assert_settled(repository, ended)
    assert "### 13. Login page\n- **Status**: [NOT STARTED]\n" in read(repository, "TODO.md")


@pytest.mark.parametrize("missing", ["state.json", "TODO.md"])
def test_a_file_that_is_gone_is_made_from_the_other(repository: Inside, missing: str) -> None:
    (repository.folder / "specs" / missing).unlink()
    for args in (("task", "sync"), ("task", "new", "x"), ("task", "start", "13")):
        ended = repository(*args)
        assert ended.code == 1
        assert ended.complaint.startswith(f"{missing} is missing, but ")
    ended = repository("task", "sync", "--repair")
    assert ended.code == 0
    assert_settled(repository, ended)
    assert list_statuses(repository) == {12: "PLANNED", 13: "NOT STARTED"}


def branch(remit: Remit, name: str, title: str) -> None:
    """A branch off the first commit that has made a task."""
    git(remit.folder, "checkout", "-q", "-b", name, "main")
    assert remit("task", "new", title, "--description", f"Words of {name}.").text == f"✓ task 14 created: {title}\n"
    assert remit("task", "set-status", "12", "IMPLEMENTING" if name == "left" else "REVISING").code == 0
    commit(remit, name)


def merge(remit: Remit, *options: str) -> str:
    """Merge `left` into `right`; what git complains about."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    with remit.start(
        *identity, "merge", *options, "left", prelude=("-c", "import os, sys; os.execvp('git', sys.argv)")
    ) as git_:
        return git_.communicate()[0].decode()


def test_two_branches_that_took_one_number_are_parted_after_a_merge(repository: Inside) -> None:
    words, made = set(), {}
    for name, title in (("left", "Cache images"), ("right", "Send letters")):
        branch(repository, name, title)
        words |= read_words(read(repository, "TODO.md"), read(repository, "state.json"))
        tasks = json.loads(read(repository, "state.json"))["active_projects"]
        made[title] = next(each["created"] for each in tasks if each["project_number"] == 14)
    # Of two that were made in one second, that of the checkout comes first.
    older, newer = sorted(made, key=lambda title: (made[title], title != "Send letters"))
    assert "CONFLICT" in merge(repository)
    for name in ("TODO.md", "state.json"):
        assert "<<<<<<< HEAD\n" in read(repository, name)
    original = {name: read(repository, name) for name in ("TODO.md", "state.json")}
    for args in (("task", "list"), ("task", "new", "x"), ("task", "sync")):
        assert "markers of an unfinished merge" in repository(*args).complaint
    assert {name: read(repository, name) for name in original} == original
    checked = json.loads(repository("task", "sync", "--check", "--json").out)["items"]
    assert [(each["code"], each["filename"]) for each in checked] == [
        ("SYN001", "specs/state.json"), ("SYN019", "specs/TODO.md")
    ]  # fmt: skip
    ended = repository("task", "sync", "--repair")
    kept = {
        path.name.rpartition(".")[0]: path.read_text() for path in (repository.folder / ".remit/recovered").iterdir()
    }
    assert kept == original
    assert ended.text.count("the original is kept in .remit/recovered/") == 2
    tasks = json.loads(repository("task", "list", "--json").out)["items"]
    assert sorted((each["number"], each["title"]) for each in tasks if each["number"] > 13) == [
        (14, older), (15, newer)
    ]  # fmt: skip
    described = r"\n(?:- .*\n)+\n\*\*Description\*\*: Words of left\.\n"
    assert re.search(rf"### 1[45]\. Cache images{described}", read(repository, "TODO.md"))
    left = words - read_words(read(repository, "TODO.md"), read(repository, "state.json"))
    assert left <= {"REVISING", "IMPLEMENTING", "revising", "implementing"}
    assert not any(mark in read(repository, name) for mark in ("<<<", ">>>", "\n===") for name in original)
    assert_settled(repository, ended)
    assert repository("task", "new", "Next").text == snapshot("✓ task 16 created: Next\n")


def test_what_else_carries_an_old_number_is_told(repository: Inside) -> None:
    value = json.loads(read(repository, "state.json"))
    value["active_projects"].append({"project_number": 12, "project_name": "send_letters", "status": "planned"})
    put(repository, "specs/state.json", json.dumps(value))
    put(repository, "specs/012_send_letters/plans/implementation-001.md", "# Plan\n")
    entry = {"id": "letters-2026-01-02", "file": "a.md", "linked_tasks": ["12"]}
    put(repository, "claudedocs/agent-outputs/MANIFEST.jsonl", json.dumps(entry) + "\n")
    done = json.loads(repository("task", "sync", "--repair", "--json").out)["done"]
    assert sum("the folder '012_send_letters' stays with" in each and "number 14" in each for each in done) == 1
    assert sum("('letters-2026-01-02')" in each and "remit task link 14 FINDING" in each for each in done) == 1
    assert repository("task", "link", "14", "letters-2026-01-02").code == 0
    assert json.loads(repository("task", "sync", "--repair", "--json").out)["done"] == []


def test_a_merge_as_a_union_is_parted_as_well(repository: Inside) -> None:
    put(repository, ".gitattributes", "specs/TODO.md merge=union\n")
    commit(repository, "two")
    for name, title in (("left", "Cache images"), ("right", "Send letters")):
        branch(repository, name, title)
    assert "CONFLICT" in merge(repository)
    git(repository.folder, "checkout", "-q", "--ours", "specs/state.json")
    ended = repository("task", "sync", "--repair")
    assert_settled(repository, ended)
    todo = read(repository, "TODO.md")
    assert all(words in todo for words in ("Cache images", "Send letters", "Words of left.", "Words of right."))


def test_a_merge_by_hand_that_kept_both_is_parted(repository: Inside) -> None:
    branch(repository, "left", "Cache images")
    left = json.loads(read(repository, "state.json"))["active_projects"]
    section = read(repository, "TODO.md").partition("### 14.")[2].partition("\n## ")[0].rstrip()
    branch(repository, "right", "Send letters")
    state = json.loads(read(repository, "state.json"))
    state["active_projects"] += [each for each in left if each["project_number"] == 14]
    put(repository, "specs/state.json", json.dumps(state, indent=2))
    put(repository, "specs/TODO.md", f"{read(repository, 'TODO.md').rstrip()}\n\n### 14.{section}\n")
    assert repository("task", "sync").code == 1
    ended = repository("task", "sync", "--repair")
    assert ended.code == 0
    assert_settled(repository, ended)
    titles = {each["number"]: each["title"] for each in json.loads(repository("task", "list", "--json").out)["items"]}
    assert sorted(titles) == [12, 13, 14, 15]
    assert {titles[14], titles[15]} == {"Cache images", "Send letters"}
    for number, title in titles.items():
        assert f"### {number}. {title}\n" in read(repository, "TODO.md")


# A state.json that is broken


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: text[:-30], "truncated"),
        (lambda text: text + text, "more than one object"),
        (lambda text: text.replace('"planned",', '"planned"'), "valid JSON"),
        (lambda _: "", "empty"),
        (lambda text: text.replace("{", "", 1), "more than one object|valid JSON"),
        (lambda text: text + "\0" * 4096, "valid JSON"),
    ],
    ids=["cut off", "twice", "no comma", "empty", "no brace", "zeros"],
)  # fmt: skip
def test_a_broken_state_is_recovered_and_the_original_kept(
    repository: Inside, spoil: Callable[[str], str], said: str
) -> None:
    broken = spoil(STATE)
    put(repository, "specs/state.json", broken)
    for args in (("task", "list"), ("task", "start", "12"), ("task", "new", "x"), ("task", "sync")):
        ended = repository(*args)
        assert ended.code == (2 if "list" in args else 1)
        assert re.search(said, ended.complaint)
        assert ended.complaint.endswith("and keep a copy of the file, with: remit task sync --repair")
    assert read(repository, "state.json") == broken
    ended = repository("task", "sync", "--repair")
    assert ended.code == 0
    (kept,) = (repository.folder / ".remit/recovered").iterdir()
    assert kept.read_text() == broken
    assert f"the original is kept in .remit/recovered/{kept.name}\n" in ended.text
    assert_settled(repository, ended)
    assert list_statuses(repository) == {12: "PLANNED", 13: "NOT STARTED"}
    assert read(repository, "TODO.md") == TODO


def test_what_the_last_version_does_not_have_is_shown_in_the_original(repository: Inside) -> None:
    put(repository, "specs/state.json", STATE.replace('"project_number": 13', '"project_number": 30, oh'))
    ended = repository("task", "sync", "--repair")
    assert ended.code == 0
    assert re.search(r"warning\[SYN013\]: task 30 .*\n +--> \.remit/recovered/state\.json\.\w+:\d+:\d+\n", ended.text)
    assert_settled(repository, ended)


def test_without_a_version_in_git_a_broken_state_is_only_reported(inside: Inside) -> None:
    put(inside, "specs/state.json", STATE[:-30])
    put(inside, "specs/TODO.md", TODO)
    ended = inside("task", "sync", "--repair")
    assert (ended.code, ended.out) == (1, b"")
    assert "is truncated (line " in ended.complaint
    assert "git has no version that is valid JSON; correct it by hand" in ended.complaint
    assert (read(inside, "state.json"), read(inside, "TODO.md")) == (STATE[:-30], TODO)


def test_a_plan_follows_its_task(repository: Inside) -> None:
    put(repository, "specs/012_x/plan.md", "# Plan\n\n- **Status**: [COMPLETED]\n")
    state = make_state(active_projects=[{**PROJECTS[0], "plan_path": "specs/012_x/plan.md"}, PROJECTS[1]])
    put(repository, "specs/state.json", state)
    put(repository, "specs/TODO.md", TODO.replace("[PLANNED]", "[PLANNED]\n- **Plan**: [specs/012_x/plan.md]", 1))
    checked = repository("task", "sync", "--check", "--output-format", "concise")
    assert checked.code == 0
    assert "SYN012 warning task 12 is planned here, but its plan is [COMPLETED]\n" in checked.text
    assert "✓ set the plan of task 12 to [PLANNED], as in state.json\n" in repository("task", "sync", "--repair").text
    assert read(repository, "012_x/plan.md") == "# Plan\n\n- **Status**: [PLANNED]\n"


def test_numbers_of_the_archive_count(repository: Inside) -> None:
    put(repository, "specs/archive/state.json", json.dumps({"archived_projects": [*COMPLETED, {**PROJECTS[1]}]}))
    for args in (("--check",), ("--repair",)):
        ended = repository("task", "sync", *args, "--output-format", "concise")
        assert ended.code == 1
        assert "SYN011 error task 13 is not_started here and in archive/state.json too\n" in ended.text


def test_many_changes_are_shown_in_part(repository: Inside) -> None:
    numbers = range(20, 100)
    tasks = "".join(f"\n### {number}. Task {number}\n- **Status**: [PLANNED]\n" for number in numbers)
    put(repository, "specs/TODO.md", TODO + tasks)
    ended = repository("task", "sync", "--repair")
    assert ended.text.count("✓ added task ") == 50
    assert "… and 31 more\n" in ended.text
    assert len(list_statuses(repository)) == 82


def test_in_a_worktree_the_files_that_are_there_are_compared(
    workspace: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hook is about to commit them; what the main checkout says is not its matter."""
    git(workspace.folder, "init", "-q", "-b", "main")
    git(workspace.folder, "add", "specs")
    git(workspace.folder, "commit", "-qm", "tasks")
    linked = workspace.folder.with_name(f"{workspace.folder.name}-linked")
    git(workspace.folder, "worktree", "add", "-q", str(linked), "-b", "side")
    todo = linked / "specs" / "TODO.md"
    todo.write_text(todo.read_text().replace("[PLANNED]", "[COMPLETED]"))
    assert workspace("task", "sync", "--check").code == 0
    monkeypatch.chdir(linked)
    assert workspace("task", "sync", "--check").code == 1
