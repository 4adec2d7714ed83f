"""`remit hooks install` and `remit hooks uninstall`, as their users meet them: real files, real git, and a doctor."""

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

from remit.hooks import settings_files
from remit.hooks.install import CODEX, LOCAL, PLUGIN, SHARED
from tests.support.commands import Inside, Remit, load, put
from tests.support.git_command import git
from tests.support.initialized_workspace import FULL_DISK
from tests.support.screen_text import smooth

ALL = ("claude", "codex", "opencode")
MINE = '{\n    "model": "x",\n    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "lint"}]}]}\n}\n'


def load_hooks(place: Inside, path: str) -> dict[str, list[tuple[str | None, str, int]]]:
    told = json.loads((place.folder / path).read_text())["hooks"]
    return {
        event: [(group.get("matcher"), hook["command"], hook["timeout"]) for group in groups for hook in group["hooks"]]
        for event, groups in told.items()
    }


def list_tree(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and not {".remit", ".git"}.intersection(file.relative_to(folder).parts)
    }


def doctor(place: Inside) -> list[tuple[str, str, str]]:
    rows = load(place("doctor", "--json"))["checks"]
    return [(row["state"], row["message"], row["hint"]) for row in rows if row["name"] == "hooks"]


# What fails halfway


@pytest.fixture
def full(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A disk that is full when Codex's file is written; the files that were tried."""
    write, tried = settings_files._write_edit, []  # noqa: SLF001 - the fault is between two files

    def fail(home: Any, edit: Any) -> None:  # noqa: ANN401 - as the function has them
        tried.append(edit.path)
        if edit.path == CODEX:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(home, edit)

    monkeypatch.setattr(settings_files, "_write_edit", fail)
    return tried


def test_what_could_not_be_written_is_not_called_written(place: Inside, full: list[str]) -> None:
    ended = place("hooks", "install", *ALL)
    assert CODEX in full
    assert ended.code == 2
    assert "no space left" in ended.complaint.lower()
    written, _, left = ended.text.partition("\nNot written\n")
    assert "\nWritten\n" in written
    for path in (LOCAL, CODEX, PLUGIN):
        is_there = (place.folder / path).exists()
        assert (path in written, path in left) == (is_there, not is_there), path
    assert CODEX in left
    assert "✓" not in ended.text


def test_a_program_is_told_what_was_written(place: Inside, full: list[str]) -> None:
    ended = place("hooks", "install", *ALL, "--json")
    assert CODEX in full
    told = ended.error["data"]
    assert (ended.code, ended.out, LOCAL in told["written"], CODEX in told["not_written"]) == (2, b"", True, True)


# Installing


def test_a_dry_run_shows_every_line_and_writes_nothing(place: Inside) -> None:
    dry = place("hooks", "install", *ALL, "--dry-run")
    assert (dry.code, dry.err) == (0, b"")
    for path in (LOCAL, CODEX, PLUGIN):
        assert f"\n  create  {path}\n" in dry.text
    assert '    +     "PreToolUse": [' in dry.text
    assert dry.text.endswith("\nNothing was written.\n")
    assert list(place.folder.iterdir()) == []


def test_what_was_asked_for_is_written_without_a_question(place: Inside) -> None:
    ended = place("hooks", "install", *ALL)
    assert (ended.code, ended.err) == (0, b"")
    for path in (LOCAL, CODEX, PLUGIN):
        assert f"\n  create  {path}\n" in ended.text
        assert (place.folder / path).is_file()


def test_the_hooks_of_claude_have_whole_paths_and_those_that_guard_block(place: Inside) -> None:
    assert place("hooks", "install", "claude").code == 0
    hooks = load_hooks(place, LOCAL)
    for event in ("PreToolUse", "PostToolUse", "SubagentStart", "SubagentStop", "Stop", "SessionStart", "SessionEnd"):
        ((matcher, command, timeout),) = hooks[event]
        assert matcher == ("*" if "ToolUse" in event else None)
        assert command.endswith(" || exit 2") is (event in ("PreToolUse", "SubagentStop"))
        words = settings_files.split_command(command) or []
        assert words[:3] == [sys.executable, "-I", "-S"]
        assert Path(words[3]).is_file()
        assert timeout >= 20


def test_shared_hooks_go_by_a_name_and_replace_the_personal_ones(
    place: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")
    place("hooks", "install", "claude")
    ended = place("hooks", "install", "claude", "--shared")
    assert (ended.code, "everyone who uses this checkout needs remit on the PATH" in ended.text) == (0, True)
    shell = {"CLAUDE_CODE_SHELL": str(place.folder / ".remit/confine/bash")}  # a path of this machine
    assert json.loads((place.folder / LOCAL).read_text()) == {"env": shell}
    commands = {event: command for event, ((_, command, _),) in load_hooks(place, SHARED).items()}
    guarding = {event for event, command in commands.items() if command.endswith(" || exit 2")}
    assert guarding == {"PreToolUse", "SubagentStop", "ConfigChange"}
    assert all(command.partition(" || ")[0] == "remit hook claude" for command in commands.values())
    again = place("hooks", "install", "claude")
    assert f"{SHARED} already has Remit's hooks" in again.text
    assert json.loads((place.folder / LOCAL).read_text()) == {"env": shell}


def test_codex_says_what_a_person_has_to_do(place: Inside) -> None:
    ended = place("hooks", "install", "codex")
    assert "Codex silently skips hooks until you trust them: start codex in" in ended.text
    assert "/hooks" in ended.text
    assert "codex exec --trust" in ended.text
    assert "UserPromptSubmit" in load_hooks(place, CODEX)


def test_the_plugin_of_opencode_asks_the_program_of_this_remit(place: Inside) -> None:
    place("hooks", "install", "opencode")
    line = next(line for line in (place.folder / PLUGIN).read_text().split("\n") if line.startswith("const COMMAND"))
    words = json.loads(line.partition("= ")[2].partition(" //")[0])
    assert words[:3] == [sys.executable, "-I", "-S"]
    assert Path(words[3]).is_file()


def put_opencode(version: str) -> None:
    """A program on the path that says its version as opencode does."""
    file = Path(os.environ["HOME"], "bin/opencode")
    file.write_text(f"#!/bin/sh\necho {version}\n")
    file.chmod(0o755)


def test_opencode_2_is_not_protected_and_init_and_doctor_say_so(place: Inside) -> None:
    put_opencode("2.2.0")
    ended = place("hooks", "install", "opencode")
    told = "opencode 2.2.0 does not load Remit's plugin: its subagents are not checked"
    assert (ended.code, told in ended.err.decode()) == (1, True)
    assert not (place.folder / PLUGIN).exists()
    put_opencode("1.18.33")
    assert place("hooks", "install", "opencode").code == 0
    assert [(state, message) for state, message, _ in doctor(place)] == [("ok", f"opencode: the plugin at {PLUGIN}")]
    put_opencode("2.2.0")
    ((state, message, hint),) = doctor(place)
    assert (state, message) == ("problem", told)
    assert "remit run --runner opencode" in hint


def test_a_server_is_entered_only_where_it_was_asked_for(place: Inside) -> None:
    place("hooks", "install", *ALL)
    assert not (place.folder / ".mcp.json").exists()
    put(place, "opencode.jsonc", '{\n  // mine\n  "model": "x", // too\n}\n')
    ended = place("hooks", "install", *ALL, "--mcp")
    server = json.loads((place.folder / ".mcp.json").read_text())["mcpServers"]["remit"]
    assert server == {"command": sys.executable, "args": ["-P", "-m", "remit", "mcp"]}
    text = (place.folder / "opencode.jsonc").read_text()
    assert text.startswith('{\n  // mine\n  "model": "x",')
    assert '"remit"' in text
    assert "codex mcp add remit -- " in ended.text
    assert place("hooks", "uninstall").code == 0
    assert list_tree(place.folder) == {"opencode.jsonc": b'{\n  // mine\n  "model": "x", // too\n}\n'}


def test_a_server_that_lacks_its_package_is_told(place: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    sentence = "the package mcp isn't installed (pip install '.[mcp]'"
    assert sentence not in place("hooks", "install", "claude", "--mcp").text
    monkeypatch.setitem(sys.modules, "mcp", None)
    assert sentence in place("hooks", "install", "claude", "--mcp").text
    assert sentence not in place("hooks", "install", "claude").text


def test_a_second_time_nothing_is_written(place: Inside) -> None:
    put(place, LOCAL, MINE)
    place("hooks", "install", *ALL)
    before = list_tree(place.folder)
    ended = place("hooks", "install", *ALL)
    assert (ended.code, "✓ nothing to do; to verify that the hooks work" in ended.text) == (0, True)
    assert list_tree(place.folder) == before


def test_an_older_command_line_is_replaced_and_nothing_else(place: Inside) -> None:
    put(place, LOCAL, MINE)
    place("hooks", "install", "claude")
    file = place.folder / LOCAL
    wanted = file.read_text()
    file.write_text(wanted.replace(sys.executable, "/old/bin/python"))
    assert "/old/bin/python" in file.read_text()
    ended = place("hooks", "install", "claude")
    assert (ended.code, f"change  {LOCAL}" in ended.text) == (0, True)
    assert file.read_text() == wanted
    place("hooks", "uninstall")
    assert file.read_text() == MINE


def test_a_file_that_git_would_take_along_is_told(place: Inside) -> None:
    git(place.folder, "init", "-q")
    assert "git doesn't ignore it" in place("hooks", "install", "claude").text
    put(place, ".gitignore", ".claude/*.local.json\n")
    assert "git doesn't ignore it" not in place("hooks", "install", "claude").text


@pytest.fixture
def worktree(place: Inside) -> Path:
    """A linked worktree beside the workspace."""
    git(place.folder, "init", "-q")
    git(place.folder, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-q", "--allow-empty", "-m", "x")
    other = place.folder.parent / f"{place.folder.name}-other"
    git(place.folder, "worktree", "add", "-q", str(other))
    return other


def test_in_a_worktree_it_is_told_where_the_hooks_are(
    place: Inside, worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(worktree)
    told = place("hooks", "install", "claude").text
    assert f"this is a linked worktree, and the hooks are in '{place.folder}': start claude there" in told
    assert (place.folder / LOCAL).exists()
    assert not (worktree / LOCAL).exists()
    removed = place("hooks", "uninstall")
    assert f"Remit removes the hooks in the main checkout, '{place.folder}'" in removed.text
    assert not (place.folder / LOCAL).exists()
    assert "main checkout" not in place("hooks", "uninstall").text


def test_below_the_root_it_is_told_where_claude_is_to_be_started(
    place: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(place.folder, "init", "-q")
    assert "start claude in" not in place("hooks", "install", "claude").text
    (place.folder / "src").mkdir()
    monkeypatch.chdir(place.folder / "src")
    told = place("hooks", "install", *ALL).text
    assert told.count(f"start claude in '{place.folder}'") == 1
    assert "worktree" not in told
    monkeypatch.setenv("REMIT_ROOT", str(place.folder))
    assert "start claude in" not in place("hooks", "install", "claude").text


def test_a_line_of_ones_own_that_calls_the_hook_is_told_and_stays(place: Inside) -> None:
    put(place, LOCAL, MINE.replace("lint", "remit hook | tee log"))
    ended = place("hooks", "install", "claude")
    assert f"{LOCAL} has a command of your own that calls Remit, too (Stop): it stays" in ended.text
    assert "remit hook | tee log" in (place.folder / LOCAL).read_text()
    place("hooks", "uninstall")
    assert (place.folder / LOCAL).read_text() == MINE.replace("lint", "remit hook | tee log")


def test_a_broken_file_is_one_sentence_and_nothing_is_written(place: Inside) -> None:
    put(place, CODEX, "{,}")
    ended = place("hooks", "install", *ALL)
    assert ended.code == 2
    assert smooth(ended.complaint) == snapshot(
        "'<folder>/.codex/hooks.json' isn't valid JSON: expecting property name enclosed in double quotes (line 1); correct it by hand, then run the command again"
    )
    assert list_tree(place.folder) == {CODEX: b"{,}"}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("hooks", "install", "claud"), "there is no harness 'claud'; did you mean 'claude'?"),
        (("hooks", "check"), "HARNESS is missing; name one: remit hooks check claude"),
        (("hooks", "install", "--shared"), "HARNESS is missing; name one: remit hooks install claude"),
        (("hooks", "uninstall", "gemini"), "Remit has no hooks for Gemini CLI"),
    ],
)
def test_what_does_not_fit_is_told(place: Inside, words: tuple[str, ...], sentence: str) -> None:
    ended = place(*words)
    assert (ended.code, sentence in ended.complaint) == (2, True)


def test_as_json_everything_is_there(place: Inside) -> None:
    planned = load(place("hooks", "install", *ALL, "--json", "--dry-run"))
    assert planned["written"] is False
    assert [each["name"] for each in planned["harnesses"]] == ["claude", "codex", "opencode"]
    assert planned["harnesses"][0]["files"] == [{"path": LOCAL, "action": "create"}]
    assert "PreToolUse" in planned["harnesses"][0]["events"]
    assert load(place("hooks", "install", *ALL, "--json"))["written"] is True
    gone = load(place("hooks", "uninstall", "--json"))
    assert [file["action"] for each in gone["harnesses"] for file in each["files"]] == ["remove"] * 3
    assert list_tree(place.folder) == {}


def test_a_disk_that_takes_nothing_is_one_sentence(remit: Remit) -> None:
    put(remit, LOCAL, MINE)
    (remit.folder / ".remit/locks").mkdir(parents=True)
    (remit.folder / ".remit/.gitignore").write_text("*\n")
    ended = remit("hooks", "install", "claude", prelude=("-c", FULL_DISK))
    assert (ended.code, "can't be written: file too large" in ended.complaint) == (2, True)
    assert list_tree(remit.folder) == {LOCAL: MINE.encode()}
    assert remit("hooks", "install", "claude").code == 0
    full = (remit.folder / LOCAL).read_bytes()
    ended = remit("hooks", "uninstall", prelude=("-c", FULL_DISK))
    assert (ended.code, (remit.folder / LOCAL).read_bytes()) == (2, full)
    assert remit("hooks", "uninstall").code == 0
    assert list_tree(remit.folder) == {LOCAL: MINE.encode()}


@pytest.mark.slow
@pytest.mark.thorough
def test_several_at_once_leave_one_installation(remit: Remit) -> None:
    put(remit, LOCAL, MINE)
    remit("hooks", "install", *ALL)
    wanted = list_tree(remit.folder)
    remit("hooks", "uninstall")
    for _ in range(2):
        processes = [remit.start("hooks", "install", *ALL) for _ in range(3)]
        ended = [(process.communicate(), process.returncode) for process in processes]
        assert {code for _, code in ended} <= {0, 2}, "one that came too late says that the files have changed"
        assert 0 in {code for _, code in ended}
        assert list_tree(remit.folder) == wanted
    processes = [remit.start("hooks", "uninstall") for _ in range(3)]
    assert 0 in {code for _, code in [(process.communicate(), process.returncode) for process in processes]}
    assert list_tree(remit.folder) == {LOCAL: MINE.encode()}


# Uninstalling


def test_uninstalled_every_file_is_what_it_was_and_the_others_are_gone(place: Inside) -> None:
    put(place, LOCAL, MINE)
    put(place, ".opencode/agent/x.md", "x")
    before = list_tree(place.folder)
    place("hooks", "install", *ALL, "--mcp")
    shown = place("hooks", "uninstall", "--dry-run")
    assert (shown.code, f"change  {LOCAL}" in shown.text, f"remove  {PLUGIN}" in shown.text) == (0, True, True)
    ended = place("hooks", "uninstall")
    assert (ended.code, ended.text.split("\n")[-2]) == (0, snapshot("✓ removed; everything else is unchanged"))
    assert list_tree(place.folder) == before
    assert not (place.folder / ".codex").exists()
    again = place("hooks", "uninstall")
    assert (again.code, again.text.split("\n")[-2]) == (0, snapshot("✓ nothing to remove"))


def test_one_harness_is_uninstalled_by_itself(place: Inside) -> None:
    place("hooks", "install", *ALL)
    assert place("hooks", "uninstall", "codex").code == 0
    assert {*list_tree(place.folder)} == {LOCAL, PLUGIN}


def test_where_nothing_is_installed_nothing_is_made(place: Inside) -> None:
    assert place("hooks", "uninstall").code == 0
    assert list(place.folder.iterdir()) == []


def test_a_broken_file_that_may_have_hooks_is_told_and_the_others_are_taken_out(place: Inside) -> None:
    place("hooks", "install", *ALL)
    file = place.folder / CODEX
    broken = file.read_text()[:-3]
    file.write_text(broken)
    ended = place("hooks", "uninstall")
    assert ended.code == 1
    assert smooth(ended.complaint) == snapshot(
        "'<folder>/.codex/hooks.json' is truncated (line 93); correct it by hand, then run the command again"
    )
    assert list_tree(place.folder) == {CODEX: broken.encode()}
    again = place("hooks", "uninstall")
    assert (again.code, "nothing to remove" in again.text) == (1, False), "its hooks are in there"
    file.write_text("{")
    (place.folder / ".remit/harness/codex-hooks.json.json").unlink()
    assert place("hooks", "uninstall").code == 0, "nothing of Remit's can be in it"


def test_a_plugin_that_was_changed_stays_and_is_told(place: Inside) -> None:
    place("hooks", "install", *ALL)
    file = place.folder / PLUGIN
    file.write_text(f"{file.read_text()}// mine\n")
    ended = place("hooks", "uninstall")
    assert (ended.code, "was changed since it was installed; remove it by hand" in ended.complaint) == (1, True)
    assert {*list_tree(place.folder)} == {PLUGIN}


def test_an_agent_takes_out_nothing_that_holds_it(place: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    place("hooks", "install", *ALL)
    before = list_tree(place.folder)
    monkeypatch.setenv("REMIT_TICKET", "x")
    for words in (("hooks", "uninstall"), ("hooks", "install", *ALL, "--shared")):
        ended = place(*words)
        assert (ended.code, "an agent can't change what its harness calls" in ended.complaint) == (2, True)
    assert list_tree(place.folder) == before


# The doctor


def test_the_doctor_says_nothing_of_hooks_where_none_are(place: Inside) -> None:
    assert doctor(place) == []


def test_the_doctor_counts_what_is_well_and_sees_that_codex_trusts_nothing(place: Inside) -> None:
    place("hooks", "install", *ALL)
    told = doctor(place)
    assert [state for state, _, _ in told] == ["ok", "ok", "warning", "ok"]
    assert told[0][1].startswith("claude: ")
    assert told[2][1] == "Codex skips the hooks: it doesn't trust this folder"


def test_the_doctor_sees_hooks_that_were_trusted(place: Inside) -> None:
    place("hooks", "install", "codex")
    folder = Path(os.environ["HOME"], ".codex")
    folder.mkdir()
    root = str(place.folder)
    trusted = f'[projects."{root}"]\ntrust_level = "trusted"\n'
    (folder / "config.toml").write_text(trusted)
    assert "skips hooks that you haven't trusted: SessionStart" in doctor(place)[1][1]
    hooks = [f'[hooks.state."{root}/{CODEX}:{name}:0:0"]\ntrusted_hash = "sha256:1"\n' for name in (
        "pre_tool_use", "post_tool_use", "subagent_start", "subagent_stop", "stop", "session_start", "session_end",
        "user_prompt_submit")]  # fmt: skip
    (folder / "config.toml").write_text(trusted + "".join(hooks))
    assert [state for state, _, _ in doctor(place)] == ["ok"]


@pytest.mark.parametrize(
    ("old", "new", "state", "sentence"),
    [
        (
            sys.executable,
            "/gone/python",
            "problem",
            "calls '/gone/python', which doesn't exist: the tools of agents are denied",
        ),
        ("/remit/hooks/entry.py", "/gone/remit/hooks/entry.py", "problem", "which doesn't exist"),
        ("SubagentStop", "SubagentEnd", "warning", "other hooks than this Remit installs, without SubagentStop"),
        ("{", "", "problem", "isn't valid JSON"),
    ],
)
def test_the_doctor_sees_hooks_that_lead_nowhere(place: Inside, old: str, new: str, state: str, sentence: str) -> None:
    place("hooks", "install", "claude")
    file = place.folder / LOCAL
    file.write_text(file.read_text().replace(old, new))
    ((found, message, hint),) = doctor(place)
    assert (found, sentence in message, bool(hint)) == (state, True, True), message


def test_the_doctor_sees_another_remit(place: Inside) -> None:
    place("hooks", "install", "claude")
    other = put(place, "elsewhere/remit/hooks/entry.py", "")
    file = place.folder / LOCAL
    words = settings_files.split_command(load_hooks(place, LOCAL)["Stop"][0][1])
    assert words
    file.write_text(file.read_text().replace(words[3], str(place.folder / "elsewhere/remit/hooks/entry.py")))
    ((state, message, _),) = doctor(place)
    assert (state, "calls another Remit, at '" in message) == ("warning", True), other


def test_the_doctor_sees_hooks_that_are_called_twice(place: Inside) -> None:
    place("hooks", "install", "claude")
    (place.folder / SHARED).write_bytes((place.folder / LOCAL).read_bytes())
    assert f"twice: in {LOCAL} and in {SHARED}" in doctor(place)[2][1]
    (place.folder / SHARED).unlink()
    folder = Path(os.environ["HOME"], ".claude")
    folder.mkdir()
    (folder / "settings.json").write_text('{"enabledPlugins": {"remit@tools": true}}')
    assert "and from the plugin that" in doctor(place)[1][1]
    assert "Remit's plugin for Claude Code is enabled as well" in place("hooks", "install", "claude").text


def test_the_doctor_says_whether_the_kernel_limits_commands(place: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", "/bin/bash")

    def look() -> tuple[str, str]:
        rows = load(place("doctor", "--json"))["checks"]
        ((state, message),) = [(row["state"], row["message"]) for row in rows if row["name"] == "commands"]
        return state, message

    place("hooks", "install", "claude")
    assert look()[0] == "ok"
    shell = place.folder / ".remit/confine/bash"
    shell.write_text("#!/bin/sh\n")
    assert look() == ("warning", f"Claude Code: '{shell}' isn't the shell that this Remit installs")
    place("hooks", "install", "claude")
    assert look()[0] == "ok"
    settings = json.loads((place.folder / LOCAL).read_text())
    for told, sentence in (
        ({"CLAUDE_CODE_SHELL": "/bin/zsh"}, "to '/bin/zsh', so the kernel"),
        ({}, "doesn't name Remit's shell"),
    ):
        put(place, LOCAL, json.dumps(settings | {"env": told}))
        state, message = look()
        assert (state, sentence in message) == ("warning", True), message
    put(place, LOCAL, json.dumps(settings | {"env": {"CLAUDE_CODE_SHELL": "/bin/zsh"}}))
    ended = place("hooks", "install", "claude")
    assert (ended.code, "sets CLAUDE_CODE_SHELL to '/bin/zsh', so the kernel" in ended.text) == (0, True)
    assert json.loads((place.folder / LOCAL).read_text())["env"] == {"CLAUDE_CODE_SHELL": "/bin/zsh"}


def test_the_doctor_misses_a_name_that_is_not_on_the_path(place: Inside) -> None:
    place("hooks", "install", "claude", "--shared")
    ((state, message, _),) = doctor(place)
    assert (state, "calls remit, which isn't in PATH" in message) == ("problem", True)


def test_the_doctor_sees_a_plugin_that_was_changed(place: Inside) -> None:
    place("hooks", "install", "opencode")
    file = place.folder / PLUGIN
    text = file.read_text()
    file.write_text(f"{text}// mine\n")
    assert "was changed since it was installed" in doctor(place)[0][1]
    file.unlink()
    assert doctor(place) == []


# The time of acceptance checks

CHECKED = '[agents.scribe]\nchecks = ["tests"]\n[checks.tests]\nrun = "true"\ntimeout = {}\n'


def test_hooks_wait_as_long_as_the_checks_may_take(place: Inside) -> None:
    plain = {path: list_timeouts(place, path, name) for name, path in (("claude", LOCAL), ("codex", CODEX))}
    place("hooks", "uninstall")
    (place.folder / "remit.toml").write_text(CHECKED.format(570))
    events = {"claude": {"PreToolUse", "PostToolUse", "SubagentStop", "Stop"}, "codex": {"SubagentStop", "Stop"}}
    for name, path in (("claude", LOCAL), ("codex", CODEX)):
        longer = list_timeouts(place, path, name)
        assert {event for event in longer if longer[event] == plain[path][event] + 600} == events[name]
        assert {event for event in longer if longer[event] != plain[path][event]} == events[name]
        for event, ((_, command, _),) in load_hooks(place, path).items():
            assert (f"{name} 600" in command) is (event in events[name])
            assert settings_files.is_own_command(command)
    place("hooks", "install", "opencode")
    assert "\nconst CHECK_SECONDS = 600 " in (place.folder / PLUGIN).read_text()
    before = (place.folder / LOCAL).read_bytes()
    place("hooks", "install", *ALL)
    assert (place.folder / LOCAL).read_bytes() == before
    assert not any("acceptance checks" in message for _, message, _ in doctor(place))
    assert place("hooks", "uninstall").code == 0
    assert not (place.folder / LOCAL).exists()


def list_timeouts(place: Inside, path: str, name: str) -> dict[str, int]:
    """The time limit of each event after an installation."""
    assert place("hooks", "install", name).code == 0
    return {event: timeout for event, ((_, _, timeout),) in load_hooks(place, path).items()}


def test_the_doctor_notices_checks_that_take_longer_than_the_hooks_wait(place: Inside) -> None:
    (place.folder / "remit.toml").write_text(CHECKED.format(30))
    place("hooks", "install", *ALL)
    (place.folder / "remit.toml").write_text(CHECKED.format(570))
    for name in ALL:
        message = (
            f"the acceptance checks may take 600 s, and the hooks of {name} wait 60 s: a check that is late is not run"
        )
        assert ("warning", message, f"run remit hooks install {name} again") in doctor(place)
    (place.folder / "remit.toml").write_text(CHECKED.format(5000))
    ended = place("hooks", "install", "claude")
    assert "the acceptance checks may take 5,030 s, and hooks wait at most 3,600 s" in ended.text
