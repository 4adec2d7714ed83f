"""Harness settings: after installing and uninstalling, a user's file is as before, whatever happened in between."""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.errors import InputError, RemitError
from remit.hooks.settings_files import (
    Hook,
    is_own_command,
    is_own_server,
    is_stamped,
    list_hooks,
    mentions_remit,
    plan_entries,
    plan_file,
    plan_file_removal,
    plan_removal,
    shape_hooks,
    write_edits,
)
from remit.ledger.home import Home
from remit.storage.json_edit import blank_comments, same
from tests.support.json_texts import Layout, list_comments, render_object, texts
from tests.support.kill_points import run_and_die
from tests.support.sample_sizes import STRIDE

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

PATH = ".claude/settings.local.json"
OLD = "/opt/py/bin/python -I -S /opt/py/lib/remit/hooks/entry.py claude"
THERE = "{ [ -e /opt/py/lib/remit/hooks/entry.py ] || (exit 127); } && "
HOOKS = (
    Hook("PreToolUse", "*", "remit hook claude || exit 2", 20),
    Hook("PostToolUse", "*", "remit hook claude", 20),
    Hook("Stop", None, "remit hook claude", 60),
)
WANTED = shape_hooks(HOOKS)
SECOND = shape_hooks([hook._replace(command=hook.command.replace("remit hook claude", OLD)) for hook in HOOKS])


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(str(tmp_path))


def put(home: Home, text: str | bytes, path: str = PATH) -> Path:
    file = Path(home.root, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def install(home: Home, wanted: dict[str, Any] = WANTED, path: str = PATH, *, comments: bool = False) -> None:
    write_edits(home, [plan_entries(home, path, wanted, comments=comments)])


def uninstall(home: Home, path: str = PATH, *, comments: bool = False) -> None:
    write_edits(home, [plan_removal(home, path, comments=comments)])


def list_tree(root: str) -> dict[str, bytes]:
    files = [file for file in Path(root).rglob("*") if ".remit" not in file.parts]
    return {str(file.relative_to(root)): file.read_bytes() if file.is_file() else b"/" for file in files}


def list_ours(file: Path) -> list[Hook]:
    values = json.loads(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    return [hook for hook in list_hooks(values) if is_own_command(hook.command)]


# Whose it is


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("remit hook claude", True),
        ("remit hook claude || exit 2", True),
        (OLD, True),
        (f"{OLD} || exit 2", True),
        (f"{THERE}{OLD} || exit 2", True),
        (
            "{ [ -e '/c d/remit/hooks/entry.py' ] || (exit 127); } && '/a b/python' -I -S '/c d/remit/hooks/entry.py' codex",
            True,
        ),
        (THERE.replace("/opt/py", "/other") + OLD, False),
        (THERE.replace(" ]", " ]; rm -rf x") + OLD, False),
        (f"{THERE}rm -rf x", False),
        ("remit hook claude || { echo 'Remit could not decide' >&2; exit 2; }", True),
        ("remit hook claude || { echo 'x'; rm -rf x; echo '' >&2; exit 2; }", False),
        ("remit hook claude || exit 0", False),
        ("'/a b/python' -I -S '/c d/remit/hooks/entry.py' codex", True),
        ("remit  hook", False),
        ("remit hookup claude", False),
        ("my-remit hook claude", False),
        ("remit hook claude | tee log", False),
        ("remit hook claude; rm -rf x", False),
        ("env A=1 remit hook claude", False),
        ("/opt/remit/hooks/entry.py claude", False),
        ("python -I -S /opt/remit/hooks/entry.py claude; true", False),
        ("python -I -S '/opt/remit/hooks/entry.py", False),
        ("python -I -S $HOME/remit/hooks/entry.py", False),
        ("", False),
        (None, False),
        (7, False),
    ],
)
def test_only_the_exact_command_lines_are_remits(command: object, own: bool) -> None:  # noqa: FBT001 - a table
    assert is_own_command(command) is own
    assert not (own and mentions_remit(command))


def test_a_line_of_somebody_elses_that_calls_the_hook_is_noticed() -> None:
    assert mentions_remit("remit hook claude | tee log")
    assert not mentions_remit("remit check x")


@pytest.mark.parametrize(
    ("key", "value", "own"),
    [
        ("remit", {"command": "remit", "args": ["mcp"]}, True),
        ("remit", {"command": "/py", "args": ["-P", "-m", "remit", "mcp"]}, True),
        ("remit", {"type": "local", "command": ["remit", "mcp"]}, True),
        ("other", {"command": "remit", "args": ["mcp"]}, False),
        ("remit", {"command": "remit", "args": ["mcp", "--x"]}, False),
        ("remit", {"url": "http://x"}, False),
        ("remit", ["remit", "mcp"], False),
    ],
)
def test_only_the_exact_server_is_remits(key: str, value: object, own: bool) -> None:  # noqa: FBT001 - a table
    assert is_own_server(key, value) is own


# Installing and uninstalling


def test_without_a_file_nothing_is_left(home: Home) -> None:
    install(home)
    assert list_ours(Path(home.root, PATH)) == [*HOOKS]
    uninstall(home)
    assert list_tree(home.root) == {}
    assert not list(Path(home.root, ".remit/harness").iterdir())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=texts())
def test_uninstalled_a_file_is_what_it_was_to_the_byte(home: Home, text: str) -> None:
    file = put(home, text)
    install(home)
    assert {*list_ours(file)} == {*HOOKS}
    first = file.read_bytes()
    install(home)
    assert file.read_bytes() == first
    install(home, SECOND)
    assert {hook.command.removesuffix(" || exit 2") for hook in list_ours(file)} == {OLD}
    install(home)
    assert file.read_bytes() == first
    uninstall(home)
    assert file.read_bytes() == text.encode()
    uninstall(home)
    assert file.read_bytes() == text.encode()


EDITS: dict[str, Callable[[str], str]] = {
    "a value": lambda text: text.replace('"here"', '["there"]', 1),
    "a member in front": lambda text: text.replace("{", '{"first": {},', 1),
    "a comment's worth of space": lambda text: f"\n\n{text}\n",
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=texts(), name=st.sampled_from([*EDITS]))
def test_what_a_person_edits_in_between_stays_and_only_that(home: Home, text: str, name: str) -> None:
    """To uninstall after an edit is to edit what was never installed."""
    start = '{"mark": "here"' + (", " if json.loads(text.removeprefix("\ufeff")) else "")
    text = text.replace("{", start, 1)
    edit = EDITS[name]
    if text.startswith("\ufeff") and name == "a comment's worth of space":
        edit = EDITS["a value"]
    file = put(home, text)
    install(home)
    edited = edit(file.read_bytes().decode())
    assert edited.encode() != file.read_bytes()
    file.write_bytes(edited.encode())
    before = file.read_bytes()
    install(home)
    assert file.read_bytes() == before, "everything is there: nothing changes"
    uninstall(home)
    assert file.read_bytes() == edit(text).encode()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=texts(), place=st.sampled_from(["first", "last", "inside"]), forget=st.booleans())
def test_hooks_that_a_person_puts_beside_remits_stay(home: Home, text: str, place: str, forget: bool) -> None:  # noqa: FBT001 - drawn
    file = put(home, text)
    install(home)
    told = json.loads(file.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    own = {"type": "command", "command": "notify"}
    groups = told["hooks"]["Stop"]
    if place == "inside":
        groups[-1]["hooks"].insert(0, own)
    else:
        groups.insert(0 if place == "first" else len(groups), {"hooks": [own]})
    put(home, json.dumps(told, indent=3))
    if forget:
        for each in Path(home.root, ".remit/harness").iterdir():
            each.unlink()
    uninstall(home)
    left = json.loads(file.read_bytes())
    expected = json.loads(text.removeprefix("\ufeff"))
    stop = expected.setdefault("hooks", {}).setdefault("Stop", [])
    stop.insert(0 if place == "first" else len(stop), {"hooks": [own]})
    if forget:  # whoever remembers nothing takes empty lists for Remit's
        left["hooks"] = {event: groups for event, groups in left["hooks"].items() if groups}
        expected["hooks"] = {event: groups for event, groups in expected["hooks"].items() if groups}
    assert left == expected
    assert not list_ours(file)


def test_with_nothing_remembered_only_remits_entries_go(home: Home) -> None:
    text = '{\n  "model": "x", \n  "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "lint"}]}]}\n}'
    file = put(home, text)
    install(home)
    for each in Path(home.root, ".remit/harness").iterdir():
        each.unlink()
    edit = plan_removal(home, PATH)
    assert edit.is_guess
    write_edits(home, [edit])
    assert file.read_text() == text


def test_what_is_remembered_is_no_word_to_cut_by(home: Home) -> None:
    """A record that came with a repository cannot take a person's own settings away."""
    file = put(home, '{\n  "permissions": {"deny": ["Bash(rm:*)"]},\n  "x": 1\n}\n')
    install(home)
    (kept,) = Path(home.root, ".remit/harness").iterdir()
    told = json.loads(kept.read_text())
    text = file.read_text()
    piece = ' {"deny": ["Bash(rm:*)"]},\n  "x":'
    assert piece in text
    for pieces in ([[text.index(piece), piece]], [[0, text]], [[-1, "{"]], [["x"]], "x"):
        kept.write_text(json.dumps(told | {"pieces": pieces}))
        edit = plan_removal(home, PATH)
        assert edit.after is not None
        assert json.loads(edit.after) == {"permissions": {"deny": ["Bash(rm:*)"]}, "x": 1}


def test_a_persons_empty_list_stays(home: Home) -> None:
    text = '{"hooks": {"Stop": [ ], "PreToolUse": []}}'
    file = put(home, text)
    install(home)
    put(home, file.read_text().replace("{", '{"a": 1, ', 1))
    uninstall(home)
    assert json.loads(file.read_text()) == {"a": 1, "hooks": {"Stop": [], "PreToolUse": []}}


def test_a_file_that_was_remits_and_has_something_else_by_now_stays(home: Home) -> None:
    install(home)
    file = Path(home.root, PATH)
    put(home, file.read_text().replace("{", '{\n  "model": "x",', 1))
    uninstall(home)
    assert json.loads(file.read_text()) == {"model": "x"}


def test_folders_that_others_use_by_now_stay(home: Home) -> None:
    install(home)
    put(home, "x", ".claude/other.md")
    uninstall(home)
    assert list_tree(home.root) == {".claude": b"/", ".claude/other.md": b"x"}


def test_comments_stay_where_the_harness_allows_them(home: Home) -> None:
    text = '{\n  // servers\n  "mcp": {\n    "a": {"type": "local"}, // mine\n  },\n}\n'
    file = put(home, text, "opencode.jsonc")
    install(home, SERVER, "opencode.jsonc", comments=True)
    put(home, file.read_text().replace("// servers", "// my servers"), "opencode.jsonc")
    install(home, SERVER, "opencode.jsonc", comments=True)
    assert file.read_text().count("remit") == 2
    uninstall(home, "opencode.jsonc", comments=True)
    assert file.read_text() == text.replace("// servers", "// my servers")


SERVER = {"mcp": {"remit": {"type": "local", "command": ["remit", "mcp"]}}}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([*Layout]))
def test_with_comments_uninstalled_a_file_is_what_it_was_to_the_byte(
    home: Home, random_: random.Random, layout: Layout
) -> None:
    text, value = render_object(random_, layout)
    file = put(home, text, "opencode.jsonc")
    install(home, SERVER, "opencode.jsonc", comments=True)
    installed = file.read_bytes().decode()
    assert same(json.loads(blank_comments(installed)), value | SERVER)
    uninstall(home, "opencode.jsonc", comments=True)
    assert file.read_bytes() == text.encode()

    put(home, "// edited\n" + installed, "opencode.jsonc")
    (Path(home.root) / ".remit/harness/opencode.jsonc.json").unlink(missing_ok=True)
    uninstall(home, "opencode.jsonc", comments=True)
    left = file.read_bytes().decode()
    assert same(json.loads(blank_comments(left)), value)
    assert all(text[slice(*span)].rstrip() in left for span in list_comments(text))


def test_after_an_edit_in_front_the_bytes_behind_are_what_they_were(home: Home) -> None:
    """Also the comma before a comment, which is no piece that could be searched for."""
    text = '{\n  "a": [1, 2], // one\n  "b": {"c": 1} /* two */ // three\n}\n'
    file = put(home, text, "opencode.jsonc")
    install(home, SERVER, "opencode.jsonc", comments=True)
    assert '"b": {"c": 1}, /* two */ // three\n  "mcp"' in file.read_text()
    put(home, file.read_text().replace("[1, 2]", "[1, 2, 3]"), "opencode.jsonc")
    uninstall(home, "opencode.jsonc", comments=True)
    assert file.read_text() == text.replace("[1, 2]", "[1, 2, 3]")


@pytest.mark.slow
@pytest.mark.thorough
def test_a_file_full_of_entries_is_cleared_at_once(home: Home) -> None:
    entry = {"hooks": [{"type": "command", "command": "remit hook claude"}]}
    file = put(home, json.dumps({"hooks": {"Stop": [entry] * 10_000}}))
    start = time.perf_counter()
    uninstall(home)
    assert time.perf_counter() - start < 10
    assert json.loads(file.read_text()) == {}


# Files that are not touched


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"[]", "isn't a JSON object"),
        (b'{"a": 1', "is truncated"),
        (b'{"a": 1,}', r"isn't valid JSON: an extra comma \(line 1\); correct it by hand"),
        (b'{"a": NaN}', "isn't valid JSON: a number can't be NaN"),
        (b'\n{"a": 1} // b', r"isn't valid JSON: a comment \(line 2\)"),
        (b"\xff{}", "isn't UTF-8 text"),
        (b'{"a":' + b"[" * 64, "is nested too deeply"),
        (b'{"hooks": 1}', "has a 'hooks' that isn't an object"),
        (b'{"hooks": null}', "has a 'hooks' that isn't an object"),
        (b'{"hooks": {"Stop": {}}}', "has a 'hooks.Stop' that isn't a list"),
        (b'{"hooks": {}, "a": 1, "hooks": {}}', "gives 'hooks' twice"),
        (b'{"hooks": {"Stop": [], "Stop": []}}', "gives 'hooks.Stop' twice"),
        (b'{"a": "' + b"x" * 1024 * 1024 + b'"}', "has more than 1,048,576 bytes"),
    ],
)
def test_a_file_that_cannot_be_edited_is_told_and_stays(home: Home, data: bytes, sentence: str) -> None:
    file = put(home, data)
    with pytest.raises(InputError, match=sentence):
        install(home)
    assert file.read_bytes() == data
    assert not Path(home.root, ".remit").exists()


def test_a_server_of_the_same_name_is_not_written_over(home: Home) -> None:
    data = b'{"mcp": {"remit": {"command": "x"}}}'
    file = put(home, data)
    with pytest.raises(InputError, match=r"has a 'mcp\.remit\.command' that isn't Remit's"):
        install(home, {"mcp": {"remit": {"command": "remit", "args": ["mcp"]}}})
    assert file.read_bytes() == data


@pytest.mark.parametrize("place", [".claude", PATH])
@pytest.mark.parametrize("inside", [True, False])
def test_a_link_is_refused(home: Home, place: str, inside: bool, tmp_path_factory: pytest.TempPathFactory) -> None:  # noqa: FBT001 - a table
    folder = Path(home.root, "real") if inside else tmp_path_factory.mktemp("outside")
    folder.mkdir(exist_ok=True)
    target = folder if place == ".claude" else folder / "settings.json"
    if place != ".claude":
        target.write_text("{}")
        Path(home.root, ".claude").mkdir()
    Path(home.root, place).symlink_to(target)
    for act in (install, uninstall):
        with pytest.raises(InputError, match=r"is a symbolic link, and Remit doesn't write through links"):
            act(home)
    assert [file.read_text() for file in folder.iterdir()] in ([], ["{}"])


def test_a_pipe_stops_nobody(home: Home) -> None:
    Path(home.root, ".claude").mkdir()
    os.mkfifo(Path(home.root, PATH))
    with pytest.raises(InputError, match="isn't a file"):
        install(home)


def test_a_file_in_the_place_of_the_folder_is_told(home: Home) -> None:
    put(home, "x", ".claude")
    with pytest.raises(InputError, match="isn't a folder"):
        install(home)


def test_what_has_changed_since_the_plan_is_not_written_over(home: Home) -> None:
    file = put(home, "{}")
    edit = plan_entries(home, PATH, WANTED)
    put(home, '{"a": 1}')
    with pytest.raises(InputError, match="changed meanwhile"):
        write_edits(home, [edit])
    assert file.read_text() == '{"a": 1}'
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_permissions_are_kept(home: Home) -> None:
    file = put(home, '{"env": {"KEY": "secret"}}')
    file.chmod(0o600)
    install(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    kept = [each.read_text() for each in Path(home.root, ".remit/harness").iterdir()]
    assert len(kept) == 1
    assert "secret" not in kept[0]
    uninstall(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.slow
@pytest.mark.parametrize("text", [None, '{"a": 1}'])
@pytest.mark.thorough("None")
def test_killed_at_any_step_it_can_be_finished_and_taken_back(home: Home, text: str | None) -> None:
    def reset() -> None:
        Path(home.root, PATH).unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            Path(home.root, ".claude").rmdir()
        if text is not None:
            put(home, text)

    reset()
    install(home)
    wanted = Path(home.root, PATH).read_bytes()
    uninstall(home)
    killed = 0
    for act in (install, uninstall):
        for step in range(1, 100, STRIDE):
            reset()
            if act is uninstall:
                install(home)
            if not run_and_die(partial(act, Home(home.root)), at=step):
                break
            killed += 1
            now = Path(home.root, PATH).read_bytes() if Path(home.root, PATH).exists() else None
            assert now in (wanted, None if text is None else text.encode()), step
            install(home)
            assert Path(home.root, PATH).read_bytes() == wanted
            uninstall(home)
            left = list_tree(home.root)
            left.pop(".claude", None)
            assert left == ({} if text is None else {PATH: text.encode()}), step
    assert killed > 10 // STRIDE


# Whole files

PLUGIN = ".opencode/plugin/remit.js"


def test_a_file_of_remits_own_comes_and_goes(home: Home) -> None:
    write_edits(home, [plan_file(home, PLUGIN, "a();\n")])
    file = Path(home.root, PLUGIN)
    assert is_stamped(file.read_bytes())
    assert not plan_file(home, PLUGIN, "a();\n").is_change
    write_edits(home, [plan_file(home, PLUGIN, "b();\n")])
    assert file.read_text().endswith("\nb();\n")
    write_edits(home, [plan_file_removal(home, PLUGIN)])
    assert list_tree(home.root) == {}


def test_a_file_of_somebody_elses_stays(home: Home) -> None:
    file = put(home, "mine();\n", PLUGIN)
    with pytest.raises(InputError, match="isn't Remit's; move it away"):
        plan_file(home, PLUGIN, "a();\n")
    assert not plan_file_removal(home, PLUGIN).is_change
    assert file.read_text() == "mine();\n"


def test_a_file_that_was_changed_is_told_and_stays(home: Home) -> None:
    write_edits(home, [plan_file(home, PLUGIN, "a();\n")])
    file = Path(home.root, PLUGIN)
    file.write_text(file.read_text() + "more();\n")
    with pytest.raises(RemitError, match="was changed since it was installed"):
        plan_file(home, PLUGIN, "a();\n")
    with pytest.raises(RemitError, match="was changed since it was installed"):
        plan_file_removal(home, PLUGIN)
