"""Scripts that change protected places if nothing stops them: under a profile none does.

`tests/data/confine_writes.jsonl` has the scripts. All of them run in one confined process, each in a workspace of its
own: a thousand protected paths in one profile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from remit.confine.profile import Profile
from remit.light_json import parse_json
from remit.storage.protected_copies import find_altered, keep_files, load_bytes, put_back
from remit.storage.quarantine import ProtectedChange, find_changes, move_away, record_names
from tests.support.confined_users import PATH
from tests.support.protected_writes import (
    ENVIRON,
    PROTECTED,
    ROWS,
    RUN_ALL,
    has_tools,
    prepare,
)
from tests.support.sample_sizes import IS_WHOLE, choose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.confined_users import Caller


@pytest.mark.slow
def test_no_script_changes_a_protected_place(caller: Caller) -> None:
    first = 0 if IS_WHOLE or caller.name == "own" else 12
    rows = [row for row in ROWS[first :: choose(24, 1)] if has_tools(row)]
    assert len(rows) >= choose(8, 150)
    bare, confined = prepare(caller, rows)
    environ = {**ENVIRON, "HOME": str(caller.make_folder("home")), "PATH": PATH}
    assignments = " ".join(f"{name}='{value}'" for name, value in environ.items())

    before = bare.read()
    caller.run_bare(f"export {assignments}; set -- {bare.folder}; {RUN_ALL}")
    after = bare.read()
    harmless = [rows[int(name)]["script"] for name in before if before[name] == after[name]]
    assert not harmless, "these scripts prove nothing: bare, they change no protected place"

    profile = Profile(write=(str(confined.folder), environ["HOME"]), protect=tuple(confined.list_protected()))
    before = confined.read()
    ran = caller.run(profile, f"export {assignments}; set -- {confined.folder}; {RUN_ALL}\ntouch $1/000/src/end")
    assert ran.returncode == 0, ran.stderr
    after = confined.read()
    assert not [rows[int(name)]["script"] for name in before if before[name] != after[name]]


@pytest.mark.slow
def test_without_kernel_support_what_a_script_changed_is_restored(caller: Caller) -> None:
    """What hooks do on a machine that confines nothing: the scripts run bare, and the bytes come from a record."""
    if caller.name != "own":
        pytest.skip("a hook runs as the user who runs the command")
    rows = [row for row in ROWS[5 :: choose(24, 1)] if has_tools(row)]
    bare, _ = prepare(caller, rows)
    environ = {**ENVIRON, "HOME": str(caller.make_folder("home")), "PATH": PATH}
    assignments = " ".join(f"{name}='{value}'" for name, value in environ.items())
    records = {}
    for place in bare.folder.iterdir():
        (place / ".remit").mkdir()
        records[place] = record_names(str(place), PROTECTED), parse_json(keep_files(str(place), PROTECTED))
    before = {place: read_files(place) for place in records}

    caller.run_bare(f"export {assignments}; set -- {bare.folder}; {RUN_ALL}")
    changed = [place for place in records if read_files(place) != before[place]]
    assert len(changed) >= 0.8 * len(records), "the others only touched a file or made a link to it"

    lost = [place for place, record in records.items() if not restore(str(place), *record)]
    assert len(lost) <= 0.03 * len(records), [rows[int(place.name)]["script"] for place in lost]
    wrong = [place for place in records if place not in lost and not before[place] <= read_files(place)]
    assert not [rows[int(place.name)]["script"] for place in wrong]


def restore(root: str, names: str, files: dict[str, list[object]]) -> bool:
    """Do what a hook does after a command; whether the kept bytes are still there, which a script can remove, too."""
    for change in find_changes(root, names):
        move_away(root, change)
    for altered in find_altered(root, files):
        try:
            data = load_bytes(root, altered)
        except FileNotFoundError:
            return False
        if altered.place:
            move_away(root, ProtectedChange(altered.place, altered.what, altered.node))
        put_back(root, altered, data)
    return True


def read_files(workspace: Path) -> set[tuple[str, int, bytes]]:
    """Return name, mode and content of every file in the protected places."""
    found = set()
    for name in PROTECTED:
        place = workspace / name
        for path in [place, *(place.rglob("*") if place.is_dir() else ())]:
            if path.is_file() and not path.is_symlink():
                found.add((str(path.relative_to(workspace)), path.stat().st_mode, path.read_bytes()))
    return found


def test_there_are_enough_scripts() -> None:
    assert len({row["script"] for row in ROWS}) == len(ROWS) >= 150
