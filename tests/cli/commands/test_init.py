"""`remit init`, as its users meet it: empty folders and full ones, real git, a real terminal, hostile files."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from remit.config import Settings, parse_settings
from remit.errors import EditedError, RemitError
from remit.maintenance.init import InitPlan, plan_setup, write_setup
from tests.support.commands import Inside, Remit, load, put
from tests.support.file_limit import few_files
from tests.support.file_trees import list_files
from tests.support.git_command import git
from tests.support.initialized_workspace import FULL_DISK, MANIFEST
from tests.support.kill_points import run_and_die
from tests.support.made_agents import CODEX, OPENCODE
from tests.support.task_files import STATE, TODO
from tests.support.terminals import talk


@pytest.fixture
def repository(inside: Inside) -> Inside:
    """An empty folder that git knows."""
    git(inside.folder, "init", "-q", "-b", "main")
    return inside


def ask_git(folder: Path, path: str) -> str:
    return git(folder, "check-attr", "merge", "--", path).rpartition(": ")[2].strip()


# What is written


def test_without_a_terminal_it_shows_everything_writes_nothing_and_says_how(repository: Inside) -> None:
    ended = repository("init")
    assert (ended.code, ended.err) == (1, b"")
    assert ended.text.startswith(f"Workspace {repository.folder}\n  git       on main\n")
    assert "\n  create  remit.toml\n    + # Settings of this workspace" in ended.text
    assert f"\n  create  .gitattributes\n    + {MANIFEST} merge=union\n" in ended.text
    assert ended.text.endswith("\nNothing was written; to write it, run: remit init --yes\n")
    assert [path.name for path in repository.folder.iterdir()] == [".git"]


def test_yes_writes_what_was_shown_and_a_second_run_finds_nothing_to_do(repository: Inside) -> None:
    planned = load(repository("init", "--json"))
    assert (planned["written"], [each["action"] for each in planned["writes"]]) == (False, ["create"] * 3)
    ended = repository("init", "--yes")
    assert (ended.code, ended.text.split("\n")[-2]) == (
        0, snapshot("✓ written; next: remit doctor, remit lint, and your tests as [checks.tests] in remit.toml"),
    )  # fmt: skip
    for each in planned["writes"]:
        assert (repository.folder / each["path"]).read_text() == each["added"]
    before = list_files(repository.folder)
    again = repository("init")
    assert (again.code, again.text.split("\n")[-2]) == (0, snapshot("✓ nothing to do: everything exists"))
    assert load(repository("init", "--yes", "--json"))["writes"] == []
    assert list_files(repository.folder) == before


def test_git_merges_the_manifest_as_a_union_and_leaves_remits_own_folder_alone(repository: Inside) -> None:
    assert ask_git(repository.folder, MANIFEST) == "unspecified"
    repository("init", "--yes")
    assert ask_git(repository.folder, MANIFEST) == "union"
    assert ask_git(repository.folder, "other/MANIFEST.jsonl") == "unspecified"
    assert git(repository.folder, "status", "--porcelain").split() == ["??", ".gitattributes", "??", "remit.toml"]


def test_two_branches_with_new_entries_merge_after_init(repository: Inside) -> None:
    repository("init", "--yes")
    put(repository, MANIFEST, "{}\n")
    git(repository.folder, "add", "-A")
    git(repository.folder, "commit", "-qm", "one")
    for branch in ("left", "right"):
        git(repository.folder, "checkout", "-qb", branch, "main")
        put(repository, MANIFEST, f'{{}}\n{{"id":"{branch}"}}\n')
        git(repository.folder, "commit", "-qam", branch)
    git(repository.folder, "merge", "-q", "--no-edit", "left")
    lines = (repository.folder / MANIFEST).read_text().splitlines()
    assert sorted(lines) == ['{"id":"left"}', '{"id":"right"}', "{}"]


def test_the_new_settings_can_be_followed_and_change_nothing(repository: Inside) -> None:
    repository("init", "--yes")
    text = (repository.folder / "remit.toml").read_text()
    assert parse_settings(text) == Settings()
    opened = "\n".join(line.removeprefix("# ") if " = " in line else line for line in text.split("\n"))
    assert parse_settings(opened).retention == Settings().retention
    assert set(parse_settings(opened).tasks.commands) == {"show", "focus", "complete", "link"}


def test_what_is_there_is_found(repository: Inside) -> None:
    put(repository, ".claude/agents/reviewer.md", OPENCODE)
    put(repository, ".codex/agents/x.toml", CODEX)
    put(repository, ".opencode/specs/state.json", STATE)
    put(repository, ".opencode/specs/TODO.md", TODO)
    put(repository, "MANIFEST.jsonl", "")
    found = load(repository("init", "--json", "--yes"))["found"]
    assert found["agents"] == [{"folder": ".claude/agents", "count": 1}, {"folder": ".codex/agents", "count": 1}]
    assert (found["tasks"], found["manifest"], found["has_manifest"]) == (".opencode/specs", "MANIFEST.jsonl", True)
    settings = parse_settings((repository.folder / "remit.toml").read_text())
    assert (settings.tasks.folder, settings.manifest.path) == (".opencode/specs", "MANIFEST.jsonl")
    assert settings.tasks.commands == {}
    assert ask_git(repository.folder, "MANIFEST.jsonl") == "union"
    assert ask_git(repository.folder, "below/MANIFEST.jsonl") == "unspecified"


def test_an_outside_task_system_is_set_where_no_tasks_are_kept(repository: Inside) -> None:
    (repository.folder / ".cleo").mkdir()
    repository("init", "--yes")
    settings = parse_settings((repository.folder / "remit.toml").read_text())
    assert settings.tasks.commands["show"] == "cleo show {id}"
    assert ask_git(repository.folder, ".cleo/agent-outputs/MANIFEST.jsonl") == "union"


def test_folders_for_tasks_and_entries_are_not_made(repository: Inside) -> None:
    """S7: a folder is made when the first file is written."""
    repository("init", "--yes")
    assert sorted(path.name for path in repository.folder.iterdir()) == [
        ".git",
        ".gitattributes",
        ".remit",
        "remit.toml",
    ]


def test_without_git_nothing_is_written_for_it(inside: Inside) -> None:
    ended = inside("init", "--yes")
    assert ended.code == 0
    assert "no repository" in ended.text
    assert sorted(path.name for path in inside.folder.iterdir()) == [".remit", "remit.toml"]


def test_settings_in_pyproject_are_not_hidden_by_a_second_file(inside: Inside) -> None:
    inside.write("pyproject.toml", '[tool.remit.lint]\nfail_on = "error"\n')
    ended = inside("init", "--yes")
    assert "settings  pyproject.toml" in ended.text
    assert not (inside.folder / "remit.toml").exists()
    inside.write("pyproject.toml", '[project]\nname = "x"\n')
    inside("init", "--yes")
    assert (inside.folder / "remit.toml").exists()


def test_from_below_the_root_is_set_up(repository: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository.folder / "deep/down").mkdir(parents=True)
    monkeypatch.chdir(repository.folder / "deep/down")
    assert repository("init", "--yes").code == 0
    assert (repository.folder / "remit.toml").exists()
    assert list((repository.folder / "deep/down").iterdir()) == []


def test_a_workspace_that_is_a_part_of_a_repository_has_its_own_attributes(
    repository: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository.folder / "part").mkdir()
    (repository.folder / "part/remit.toml").touch()
    monkeypatch.chdir(repository.folder / "part")
    repository("init", "--yes")
    assert ask_git(repository.folder, f"part/{MANIFEST}") == "union"
    assert not (repository.folder / ".gitattributes").exists()


# What is kept


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "*.x text"])
def test_attributes_keep_their_bytes_and_their_line_ends(repository: Inside, end: str, last: str) -> None:
    before = f"# ours{end}*.png  binary{end}{last}".encode()
    (repository.folder / ".gitattributes").write_bytes(before)
    ended = repository("init")
    assert f"  change  .gitattributes\n    + {MANIFEST} merge=union\n" in ended.text
    repository("init", "--yes")
    gap = end if last else ""
    assert (repository.folder / ".gitattributes").read_bytes() == before + f"{gap}{MANIFEST} merge=union{end}".encode()
    assert ask_git(repository.folder, MANIFEST) == "union"


@pytest.mark.parametrize("line", ["*.jsonl merge=union", "claudedocs/** merge=union", f"{MANIFEST} merge=union text"])
def test_attributes_that_say_so_already_are_left_alone(repository: Inside, line: str) -> None:
    put(repository, ".gitattributes", f"{line}\n")
    repository("init", "--yes")
    assert (repository.folder / ".gitattributes").read_text() == f"{line}\n"


@pytest.mark.parametrize(("line", "value"), [("*.jsonl -merge", "unset"), ("MANIFEST.jsonl merge=ours", "ours")])
def test_attributes_that_say_something_else_are_left_alone_and_told(repository: Inside, line: str, value: str) -> None:
    put(repository, ".gitattributes", f"{line}\n")
    ended = repository("init", "--yes")
    assert f"git merges {MANIFEST} as '{value}', not as 'union'" in ended.text
    assert (repository.folder / ".gitattributes").read_text() == f"{line}\n"


def test_settings_that_are_there_are_never_written_over(repository: Inside) -> None:
    put(repository, "remit.toml", "[retention]\ndays = 1\n")
    assert repository("init", "--yes").code == 0
    assert (repository.folder / "remit.toml").read_text() == "[retention]\ndays = 1\n"


def test_what_changed_after_the_plan_is_not_written_over(repository: Inside) -> None:
    setup = plan_setup()
    put(repository, "remit.toml", "[retention]\ndays = 1\n")
    with pytest.raises(EditedError, match=r"'remit.toml' was edited while Remit was writing it"):
        write_setup(setup)
    assert (repository.folder / "remit.toml").read_text() == "[retention]\ndays = 1\n"


@pytest.mark.slow
@pytest.mark.thorough
def test_killed_at_any_step_it_leaves_whole_files_and_the_next_run_finishes_it(repository: Inside) -> None:
    root = repository.folder
    put(repository, ".gitattributes", "*.png binary\n")
    setup = plan_setup()
    wanted = {each.path: each.after for each in setup.writes}
    killed = 0
    for step in range(1, 200):
        if not run_and_die(lambda: write_setup(setup), at=step):
            break
        killed += 1
        for path, before in {".gitattributes": b"*.png binary\n", "remit.toml": None}.items():
            now = (root / path).read_bytes() if (root / path).exists() else None
            assert now in (before, wanted[path]), (step, path)
        write_setup(plan_setup())
        assert {path: (root / path).read_bytes() for path in wanted} == wanted, step
        shutil.rmtree(root / ".remit")
        (root / "remit.toml").unlink()
        put(repository, ".gitattributes", "*.png binary\n")
    assert killed > 10


# On a terminal


@pytest.mark.parametrize(("answer", "written"), [(b"\n", True), (b"y\n", True), (b"YES\n", True), (b"n\n", False),
                                                 (b"what\n", False), (b"\x04", False)])  # fmt: skip
def test_on_a_terminal_it_asks_once(remit: Remit, answer: bytes, written: bool) -> None:  # noqa: FBT001 - a table
    told = talk(remit, "init", answer=answer)
    assert told.questions == 1
    assert "Write this? [Y/n] " in told.screen
    assert told.code == (0 if written else 1)
    assert (remit.folder / "remit.toml").exists() is written


def test_an_interrupt_at_the_question_ends_it_without_a_word(remit: Remit) -> None:
    told = talk(remit, "init", answer=b"\x03")
    assert (told.code, told.questions) == (130, 1)
    assert "Traceback" not in told.screen
    assert list(remit.folder.iterdir()) == []


@pytest.mark.slow
def test_on_a_terminal_nothing_is_asked_with_yes_or_when_nothing_is_missing(remit: Remit) -> None:
    assert talk(remit, "init", "--json", answer=b"").questions == 0
    assert talk(remit, "init", "--yes", answer=b"").questions == 0
    assert talk(remit, "init", answer=b"")[::2] == (0, 0)


# Hostile and broken


@pytest.mark.parametrize("name", ["remit.toml", ".gitattributes", ".remit"])
def test_a_link_that_leads_out_is_refused(
    repository: Inside, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    target = outside / "there" if name == ".remit" else outside / "there.txt"
    target.mkdir() if name == ".remit" else target.write_text("")
    (repository.folder / name).symlink_to(target)
    ended = repository("init", "--yes")
    assert ended.code == 2
    assert "is a link whose target is outside of the workspace" in ended.complaint
    assert not target.is_file() or target.read_text() == ""
    assert not target.is_dir() or list(target.iterdir()) == []


def test_a_link_of_attributes_is_refused_since_git_would_not_follow_it(repository: Inside) -> None:
    put(repository, "attributes.txt", "")
    (repository.folder / ".gitattributes").symlink_to("attributes.txt")
    ended = repository("init", "--yes")
    assert (ended.code, "which git doesn't follow" in ended.complaint) == (2, True)
    assert (repository.folder / "attributes.txt").read_text() == ""


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"*.x text\n" * 200_000, "has more than 1,048,576 bytes"), (b"\x7fELF\0\0", "isn't text")],
)
def test_attributes_that_cannot_be_edited_are_told(repository: Inside, content: bytes, sentence: str) -> None:
    (repository.folder / ".gitattributes").write_bytes(content)
    ended = repository("init", "--yes")
    assert (ended.code, sentence in ended.complaint) == (2, True)
    assert (repository.folder / ".gitattributes").read_bytes() == content
    assert not (repository.folder / "remit.toml").exists()


@pytest.mark.parametrize("place", [".gitattributes", "claudedocs/.gitattributes"])
def test_a_pipe_in_the_place_of_attributes_stops_nobody(repository: Inside, place: str) -> None:
    (repository.folder / place).parent.mkdir(exist_ok=True)
    os.mkfifo(repository.folder / place)
    ended = repository("init")
    if place == ".gitattributes":
        assert "isn't a file" in ended.complaint
    else:
        assert ended.code == 1
        assert f"{place}' isn't a file; move it away" in ended.complaint


@pytest.mark.parametrize("name", [".remit", "remit.toml"])
def test_something_else_in_the_place_is_told(repository: Inside, name: str) -> None:
    if name == ".remit":
        put(repository, name, "")
        assert "isn't a folder; move it away" in repository("init", "--yes").complaint
    else:
        put(repository, name, "[retention\n")
        assert "isn't valid TOML" in repository("init", "--yes").complaint


def test_a_disk_that_takes_nothing_is_one_sentence(remit: Remit) -> None:
    ended = remit("init", "--yes", prelude=("-c", FULL_DISK))
    assert ended.code == 2
    assert "can't be written: file too large" in ended.complaint
    assert not (remit.folder / "remit.toml").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_one_sentence(inside: Inside) -> None:
    inside.folder.chmod(0o500)
    ended = inside("init", "--yes")
    inside.folder.chmod(0o700)
    assert (ended.code, "can't be written: permission denied" in ended.complaint) == (2, True)


@pytest.mark.slow
def test_several_at_once_make_one_workspace(remit: Remit) -> None:
    git(remit.folder, "init", "-q")
    processes = [remit.start("init", "--yes") for _ in range(3)]
    codes = [process.wait(30) for process in processes]
    for process in processes:
        process.communicate()
    assert 0 in codes
    assert set(codes) <= {0, 2}, "one that came too late says that the files have changed"
    assert (remit.folder / ".gitattributes").read_text() == f"{MANIFEST} merge=union\n"


# What can't be written


def test_git_without_a_repository_that_it_likes_is_told(inside: Inside) -> None:
    (inside.folder / ".git").mkdir()
    inside.write(".git/HEAD", "ref: refs/heads/main\n")
    assert subprocess.run(["git", "status"], cwd=inside.folder, capture_output=True, check=False).returncode
    ended = inside("init", "--yes")
    assert (ended.code, ended.text.split("\n")[-2]) == (1, snapshot("✗ only a part was written"))
    assert ended.complaint == snapshot(
        ".gitattributes is not written: git finds no checkout here; run git status to see why"
    )
    assert (inside.folder / "remit.toml").exists()
    assert not (inside.folder / ".gitattributes").exists()


def test_something_by_the_name_of_git_is_no_repository(inside: Inside) -> None:
    (inside.folder / ".git").mkdir()
    ended = inside("init", "--yes")
    assert (ended.code, "no repository" in ended.text, ended.err) == (0, True, b"")


def test_without_the_program_git_it_says_what_it_did_not_write(
    repository: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("PATH", "/nonexistent")
        planned = repository("init", "--json")
        first, again = repository("init", "--yes"), repository("init")
    undone = (
        f".gitattributes is not written: git can't say how it merges {MANIFEST}: can't start git: "
        "it isn't in PATH; check that git is installed and starts, then try again"
    )
    assert (planned.code, json.loads(planned.out)["undone"]) == (1, [undone])
    for ended, verdict in ((first, "only a part was written"), (again, "nothing was written, and something is")):
        assert (ended.code, ended.complaint) == (1, undone)
        assert ended.text.split("\n")[-2].startswith(f"✗ {verdict}")
    assert (repository.folder / "remit.toml").exists()
    assert not (repository.folder / ".gitattributes").exists()
    assert repository("init", "--yes").code == 0
    assert (repository.folder / ".gitattributes").exists()


@pytest.mark.usefixtures("repository")
def test_a_process_that_may_open_no_more_files_never_says_that_all_is_written() -> None:
    """With more files that may be open it comes further; what it says is true at each point."""
    plan_setup()  # what is imported late is there now
    codes = []
    for number in range(40):
        with few_files(number):
            setup = _plan()
        codes.append("failed" if setup is None else "undone" if setup.undone else "planned")
        planned = setup is not None and any(each.path == ".gitattributes" for each in setup.writes)
        assert planned == (codes[-1] == "planned"), number
    assert "undone" in codes
    assert codes[-1] == "planned"


def _plan() -> InitPlan | None:
    try:
        return plan_setup()
    except RemitError as error:
        assert "too many open files" in error.message  # noqa: PT017 - which of the two it is, is what is asked
        return None
