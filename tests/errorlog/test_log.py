"""The log on disk: nothing lost between processes, nothing twice, nothing half; what is broken or too much is kept."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remit.errorlog.causes import group_errors
from remit.errorlog.log import (
    ARCHIVE,
    KEPT_AFTER,
    MAX_BYTES,
    MAX_KEPT,
    find_archived,
    load_log,
    mark_errors,
    record_errors,
)
from remit.errorlog.records import ErrorRecord
from remit.errors import InputError, UsageError
from remit.ledger.home import Home
from tests.support.error_samples import FOREIGN, NOW, NOW_MS, TIMEOUT, make_entry, make_log
from tests.support.kill_points import run_and_die
from tests.support.paths import SOURCE
from tests.support.sample_sizes import choose


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A workspace."""
    return Home(str(tmp_path))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Where its errors are."""
    return tmp_path / "specs" / "errors.json"


def put(file: Path, text: str | bytes) -> bytes:
    """Write a log as somebody else leaves it."""
    data = text if isinstance(text, bytes) else text.encode()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return data


def read(file: Path) -> list[Any]:
    errors: list[Any] = json.loads(file.read_bytes())["errors"]
    return errors


# Adding


def test_the_first_error_makes_the_file_and_its_folder(home: Home, file: Path) -> None:
    """S7, S8."""
    recorded = record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    assert [record.message for record in recorded.added] == [TIMEOUT.message]
    whole = json.loads(file.read_bytes())
    assert (whole["_schema_version"], whole["_last_updated"]) == ("2.0.0", NOW)
    assert whole["errors"][0]["id"] == recorded.added[0].id
    assert load_log(str(file)).errors == (recorded.added[0]._replace(word="unfixed"),)


def test_without_errors_nothing_is_made(home: Home, file: Path) -> None:
    assert record_errors(home, str(file), [], now_ms=NOW_MS).added == ()
    assert not file.parent.exists()
    assert not home.is_made
    assert load_log(str(file)).errors == ()


def test_what_others_wrote_stays_byte_for_byte(home: Home, file: Path) -> None:
    put(file, FOREIGN)
    record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    text = file.read_text()
    cut = text.index(',\n    {\n      "id": "err_1786349061_')
    end = text.index("\n  ],", cut)
    assert text[:cut] + text[end:] == FOREIGN.replace("2026-01-15T18:35:00Z", NOW, 1)


def test_an_error_that_is_told_twice_is_recorded_once(home: Home, file: Path) -> None:
    """Settling may run twice after a crash, later and with another clock."""
    record_errors(home, str(file), [TIMEOUT, TIMEOUT], now_ms=NOW_MS)
    before = file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino
    again = record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS + 60_000)
    assert again.added == ()
    assert (file.read_bytes(), file.stat().st_mtime_ns, file.stat().st_ino) == before
    assert len(read(file)) == 1


@pytest.mark.parametrize("change", [{"session_id": "sess_2"}, {"code": "OTHER"}, {"message": "other"}, {"phase": 3}])
def test_another_error_is_recorded_as_well(change: dict[str, Any], home: Home, file: Path) -> None:
    record_errors(home, str(file), [TIMEOUT, TIMEOUT._replace(**change)], now_ms=NOW_MS)
    assert len(read(file)) == 2


def test_without_a_session_only_the_same_moment_is_the_same(home: Home, file: Path) -> None:
    bare = TIMEOUT._replace(session_id="")
    for now_ms in (NOW_MS, NOW_MS, NOW_MS + 1000):
        record_errors(home, str(file), [bare], now_ms=now_ms)
    assert len(read(file)) == 2


def test_a_record_with_an_id_of_its_own_keeps_it(home: Home, file: Path) -> None:
    put(file, FOREIGN)
    known = TIMEOUT._replace(id="err_1736969700000")
    assert record_errors(home, str(file), [known], now_ms=NOW_MS).added == ()
    assert file.read_text() == FOREIGN


def test_no_secret_reaches_the_disk(home: Home, file: Path) -> None:
    secret = "gh" + "p_" + "a1B2" * 9
    record = TIMEOUT._replace(message=f"push with {secret} failed", suggested_action=f"use {secret}", command=secret)
    record_errors(home, str(file), [record], now_ms=NOW_MS)
    assert secret.encode() not in file.read_bytes()
    assert b"[redacted github]" in file.read_bytes()


# Marking


def test_a_cause_is_marked_and_what_comes_after_came_back(home: Home, file: Path) -> None:
    other = TIMEOUT._replace(message="no answer from planner for task 18 after 900 s", session_id="sess_2")
    record_errors(home, str(file), [TIMEOUT, other], now_ms=NOW_MS)
    (group,) = group_errors(load_log(str(file)).errors)
    marked = mark_errors(home, str(file), group.cause.key, "fixed", note="more time", now_ms=NOW_MS + 1000)
    assert (marked.changed, marked.chosen.group.fix_status) == (2, "fixed")
    assert {(each["fix_status"], each["fix_note"]) for each in read(file)} == {("fixed", "more time")}
    record_errors(home, str(file), [TIMEOUT._replace(session_id="sess_3")], now_ms=NOW_MS + 2000)
    (group,) = group_errors(load_log(str(file)).errors)
    assert (group.fix_status, group.recurrences) == ("open", 1)


def test_a_mark_changes_only_what_it_says(home: Home, file: Path) -> None:
    put(file, FOREIGN)
    mark_errors(home, str(file), "err_17", "ignored", now_ms=NOW_MS)
    told = f'"ignored",\n      "ignored_date": "{NOW}"'
    assert file.read_text() == FOREIGN.replace('"unfixed"', told).replace("2026-01-15T18:35:00Z", NOW, 1)
    mark_errors(home, str(file), "err_17", "open", now_ms=NOW_MS)
    assert load_log(str(file)).errors[0].closed == ""
    assert read(file)[0]["ignored_date"] is None


def test_to_mark_again_changes_nothing_not_even_the_date_of_the_fix(home: Home, file: Path) -> None:
    put(file, FOREIGN)
    mark_errors(home, str(file), "err_17", "fixed", now_ms=NOW_MS)
    before = file.read_bytes()
    assert mark_errors(home, str(file), "err_17", "fixed", now_ms=NOW_MS + 5000).changed == 0
    assert file.read_bytes() == before


def test_a_note_holds_no_secret(home: Home, file: Path) -> None:
    put(file, FOREIGN)
    mark_errors(home, str(file), "err_17", "fixed", note="PASSWORD=" + "hunter2" * 2, now_ms=NOW_MS)
    assert read(file)[0]["fix_note"] == "PASSWORD=[redacted]"


def test_a_word_that_names_nothing_changes_nothing(home: Home, file: Path) -> None:
    put(file, FOREIGN)
    with pytest.raises(UsageError):
        mark_errors(home, str(file), "zz", "fixed", now_ms=NOW_MS)
    assert file.read_text() == FOREIGN


# Broken files


BROKEN: dict[str, str | bytes] = {
    "cut": make_log(3)[:-20],
    "twice": FOREIGN + FOREIGN,
    "merge": FOREIGN.replace("  ],", "<<<<<<< HEAD\n  ],\n=======\n  ],\n>>>>>>> other"),
    "comma": FOREIGN.replace("  ],", "  ],,"),
    "text": '"nothing"',
    "no-list": '{"errors": {"a": {"id": "a", "message": "m"}}}',
    "not-utf8": FOREIGN.encode()[:-6] + b"\xff\xfe",
    "utf16": FOREIGN.encode("utf-16"),
    "zeros": bytes(400),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_told_kept_and_written_anew(name: str, home: Home, file: Path) -> None:
    data = put(file, BROKEN[name])
    log = load_log(str(file))
    assert log.diagnostics
    assert file.read_bytes() == data
    recorded = record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    assert recorded.diagnostics == log.diagnostics
    assert recorded.original is not None
    assert Path(recorded.original).parent == Path(home.folder) / "recovered"
    assert Path(recorded.original).read_bytes() == data
    assert [each["id"] for each in read(file)] == [*(each.id for each in log.errors), recorded.added[0].id]
    assert load_log(str(file)).diagnostics == ()


def test_a_broken_file_is_kept_once_however_often_it_is_found(home: Home, file: Path) -> None:
    for session in ("sess_1", "sess_2"):
        put(file, BROKEN["cut"])
        record_errors(home, str(file), [TIMEOUT._replace(session_id=session)], now_ms=NOW_MS)
    assert len([*(Path(home.folder) / "recovered").iterdir()]) == 1


def test_a_file_that_only_holds_odd_entries_is_not_broken(home: Home, file: Path) -> None:
    put(file, '{"errors": ["odd", 3, {"id": "a", "message": "m", "big": 1e400, "nan": NaN}]}')
    recorded = record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    assert recorded.original is None
    assert '["odd", 3, {"id": "a", "message": "m", "big": 1e400, "nan": NaN}, {"id":' in file.read_text()


def test_bytes_that_are_no_text_come_back(home: Home, file: Path) -> None:
    data = put(file, FOREIGN.encode().replace(b"by hand", b"by \xff\xfe hand"))
    record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    assert b"by \xff\xfe hand" in file.read_bytes()
    assert load_log(str(file)).diagnostics == ()
    assert len(file.read_bytes()) > len(data)


# What is no file


def test_a_pipe_is_refused_not_waited_for(home: Home, file: Path) -> None:
    file.parent.mkdir()
    os.mkfifo(file)
    for action in (lambda: load_log(str(file)), lambda: record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)):
        with pytest.raises(InputError, match="isn't a file; move it away"):
            action()


def test_a_folder_in_its_place_is_told_with_what_to_do(home: Home, file: Path) -> None:
    file.mkdir(parents=True)
    for action in (lambda: load_log(str(file)), lambda: record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)):
        with pytest.raises(InputError, match=r"errors\.json' isn't a file; move the folder away"):
            action()
    (file.parent / "errors-archive.jsonl").mkdir()
    with pytest.raises(InputError, match=r"archive\.jsonl' isn't a file; move the folder away"):
        find_archived(str(file), "err_1")


def test_a_giant_is_refused(home: Home, file: Path) -> None:
    file.parent.mkdir()
    with file.open("wb") as stream:
        stream.truncate(1 << 40)
    with pytest.raises(InputError, match=f"more than {MAX_BYTES:,} bytes"):
        record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)


@pytest.mark.parametrize("name", ["errors.json", ARCHIVE])
def test_a_link_that_leads_out_of_the_workspace_is_not_written_through(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    outside = tmp_path / "outside.json"
    outside.write_text(FOREIGN)
    (inside / "specs").mkdir(parents=True)
    (inside / "specs" / name).symlink_to(outside)
    file = str(inside / "specs" / "errors.json")
    with pytest.raises(InputError, match="leads out of the workspace"):
        record_errors(Home(str(inside)), file, [TIMEOUT], now_ms=NOW_MS)
    assert outside.read_text() == FOREIGN


def test_a_link_inside_the_workspace_stays_one(home: Home, file: Path) -> None:
    real = file.parent.parent / "log.json"
    real.write_text(FOREIGN)
    file.parent.mkdir()
    file.symlink_to(real)
    record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    assert file.is_symlink()
    assert len(read(real)) == 2


# What becomes too much


def test_the_oldest_go_into_the_archive_and_nothing_is_lost(home: Home, file: Path) -> None:
    put(file, make_log(MAX_KEPT))
    before = read(file)
    recorded = record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    kept = read(file)
    assert len(kept) == KEPT_AFTER
    archived = [json.loads(line) for line in (file.parent / ARCHIVE).read_text().splitlines()]
    assert len(archived) == MAX_KEPT + 1 - KEPT_AFTER
    assert sorted(each["id"] for each in [*archived, *kept[:-1]]) == sorted(each["id"] for each in before)
    assert all(each in before for each in archived)
    assert kept[-1]["id"] == recorded.added[0].id
    gone = find_archived(str(file), archived[0]["id"])
    assert gone is not None
    assert gone.message == archived[0]["message"]
    assert find_archived(str(file), "err_none") is None


def test_closed_errors_leave_first_and_of_each_cause_the_last_stays(home: Home, file: Path) -> None:
    """Whether a cause came back is known as long as somebody knows that it was fixed."""
    fixed = [make_entry(number, message="one cause", fix_status="fixed", fixed_date=NOW) for number in range(400)]
    waiting = [make_entry(number, message="other cause") for number in range(400, MAX_KEPT)]
    put(file, json.dumps({"errors": [*fixed, *waiting]}))
    record_errors(home, str(file), [TIMEOUT], now_ms=NOW_MS)
    kept = [each["id"] for each in read(file)]
    assert kept[:2] == ["err_201", "err_202"]
    assert "err_399" in kept
    assert all(f"err_{number}" in kept for number in range(400, MAX_KEPT))


# Many at once, and a machine that fails

PROGRAM = """
import sys
from remit.errorlog.log import record_errors
from remit.errorlog.records import ErrorRecord
from remit.ledger.home import Home
root, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    record = ErrorRecord("execution", f"step {number} of {name}", "UNKNOWN_ERROR", session_id=f"sess_{name}")
    record_errors(Home(root), f"{root}/specs/errors.json", [record], now_ms=1786349061492 + number)
print("done")
"""


def start(root: Path, name: str, count: int, *before: str) -> subprocess.Popen[bytes]:
    """A process that records errors."""
    command = [*before, sys.executable, "-B", "-c", PROGRAM, str(root), name, str(count)]
    env = {**os.environ, "PYTHONPATH": str(SOURCE)}
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
@pytest.mark.thorough
def test_many_processes_lose_no_error(tmp_path: Path, file: Path) -> None:
    many, each = choose(12, 32), choose(5, 20)
    processes = [start(tmp_path, str(number), each) for number in range(many)]
    ended = [process.communicate(timeout=120) for process in processes]
    assert [out for out, _ in ended] == [b"done\n"] * many, ended
    told = {each["message"] for each in read(file)}
    assert told == {f"step {step} of {name}" for name in range(many) for step in range(each)}
    assert len(read(file)) == many * each
    assert [each.name for each in file.parent.iterdir()] == ["errors.json"]


@pytest.mark.slow
@pytest.mark.thorough
def test_whoever_is_killed_leaves_the_old_file_or_the_new_one(tmp_path: Path, file: Path) -> None:
    put(file, make_log(MAX_KEPT))
    before = {each["id"] for each in read(file)}

    def record() -> None:
        record_errors(Home(str(tmp_path)), str(file), [TIMEOUT], now_ms=NOW_MS)

    for at in range(1, 100):
        killed = run_and_die(record, at=at)
        log = load_log(str(file))
        assert log.diagnostics == ()
        archive = file.parent / ARCHIVE
        lines = archive.read_text().splitlines() if archive.exists() else []
        assert before <= {each.id for each in log.errors} | {json.loads(line)["id"] for line in lines}
        if not killed:
            break
    assert not killed
    assert at > 5
    assert sum(each.message == TIMEOUT.message for each in load_log(str(file)).errors) == 1


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there to make the disk fail")
@pytest.mark.parametrize(
    ("calls", "error", "said"),
    [
        ("write", "ENOSPC", "no space left on device; make room"),
        ("write", "EIO", "input/output error"),
        ("fsync", "EIO", "input/output error"),
        ("rename,renameat,renameat2", "ENOSPC", "make room"),
        ("rename,renameat,renameat2", "EROFS", "read-only"),
    ],
)
def test_a_disk_that_fails_is_told_and_the_file_stays(
    calls: str, error: str, said: str, tmp_path: Path, file: Path
) -> None:
    put(file, FOREIGN)
    Home(str(tmp_path)).make_folder("locks")
    log = tmp_path / "strace.log"
    inject = f"inject={calls}:error={error}:when=1"
    with start(tmp_path, "a", 1, "strace", "-o", str(log), "-e", f"trace={calls}", "-e", inject) as process:
        out, err = process.communicate(timeout=60)
    if b"ptrace" in err or not log.exists():
        pytest.skip("processes cannot be traced here")
    assert "(INJECTED)" in log.read_text()
    assert out == b""
    complaint = err.decode().strip().splitlines()[-1]
    assert complaint.startswith("remit.errors.StorageError: ")
    assert said in complaint.lower()
    assert file.read_text() == FOREIGN
    assert [each.name for each in file.parent.iterdir()] == ["errors.json"]


def test_records_can_be_told_apart_from_their_like() -> None:
    assert TIMEOUT.identity != TIMEOUT._replace(phase=None).identity
    assert ErrorRecord("a", "b", "c").identity is None
