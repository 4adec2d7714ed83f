"""Activity: records go into the frontmatter, and nothing else about the file changes (R3.11)."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from remit.agents.frontmatter import find_frontmatter
from remit.storage import activity_frontmatter
from remit.storage.activity_frontmatter import Edited, FileActivity, add_activity, write_activity

ONE = FileActivity("sess_1735460684_a1b2c3", "sess_1735460600_ffffff", "edit", "2026-01-02T03:04:05Z", "docs/notes.md")
TWO = FileActivity("sess_1735460685_d4e5f6", None, "write", "2026-01-02T03:05:00Z")
LINE_ONE = (
    '{session: sess_1735460684_a1b2c3, parent_session: sess_1735460600_ffffff, operation: edit, '
    'time: "2026-01-02T03:04:05Z", path: docs/notes.md}'
)  # fmt: skip
LINE_TWO = '{session: sess_1735460685_d4e5f6, operation: write, time: "2026-01-02T03:05:00Z"}'


def read_head(text: str) -> Any:  # noqa: ANN401 - any YAML value
    """The frontmatter, as another reader sees it."""
    place = find_frontmatter(text)
    assert place is not None
    return yaml.safe_load(text[place[0] : place[1]])


def show(record: FileActivity) -> dict[str, str]:
    return {key: value for key, value in record._asdict().items() if value is not None}


# --- where they go ---------------------------------------------------------------------------------------------------

PLACES = {
    "no list yet": (
        "---\ntitle: Notes # mine\n\ntags: [a]\n---\n# Body\n",
        "---\ntitle: Notes # mine\n\ntags: [a]\nactivity:\n  - {1}\n  - {2}\n---\n# Body\n",
    ),
    "nothing in it": ("---\n---\nbody", "---\nactivity:\n  - {1}\n  - {2}\n---\nbody"),
    "a comment in it": ("---\n# mine\n---\nbody", "---\n# mine\nactivity:\n  - {1}\n  - {2}\n---\nbody"),
    "indented keys": (
        "---\n  a: 1\n  b: 2\n---\nbody", "---\n  a: 1\n  b: 2\n  activity:\n    - {1}\n    - {2}\n---\nbody",
    ),
    "a text with blank lines at its end": (
        "---\na: |+\n  x\n\n\n---\nbody", "---\na: |+\n  x\n\n\nactivity:\n  - {1}\n  - {2}\n---\nbody",
    ),
    "CRLF and a mark": (
        "\ufeff---\r\na: 1\r\n---\r\nbody\r\n",
        "\ufeff---\r\na: 1\r\nactivity:\r\n  - {1}\r\n  - {2}\r\n---\r\nbody\r\n",
    ),
    "a list in lines": (
        "---\nactivity:\n- session: old # kept\n  operation: read\nb: 1\n---\nbody",
        "---\nactivity:\n- session: old # kept\n  operation: read\n- {1}\n- {2}\nb: 1\n---\nbody",
    ),
    "a deeper list in lines": (
        "---\nactivity:\n    - {session: old}\n---\nbody",
        "---\nactivity:\n    - {session: old}\n    - {1}\n    - {2}\n---\nbody",
    ),
    "a list in lines, CRLF": (
        "---\r\nactivity:\r\n  - x\r\n---\r\n", "---\r\nactivity:\r\n  - x\r\n  - {1}\r\n  - {2}\r\n---\r\n",
    ),
    "an empty list": ("---\nactivity: []\nb: 1\n---\n", "---\nactivity: [{1}, {2}]\nb: 1\n---\n"),
    "a list in brackets": (
        "---\nactivity: [ {session: old}, ] # mine\n---\n",
        "---\nactivity: [ {session: old}, {1}, {2}, ] # mine\n---\n",
    ),
    "a key without a value": ("---\nactivity:\nb: 1\n---\n", "---\nactivity: [{1}, {2}]\nb: 1\n---\n"),
    "null": ("---\nactivity: ~ # none\n---\n", "---\nactivity: [{1}, {2}] # none\n---\n"),
    "a quoted key": ("---\n'activity': []\n---\n", "---\n'activity': [{1}, {2}]\n---\n"),
    "a key that is given twice": ("---\na: 1\na: 2\n---\n", "---\na: 1\na: 2\nactivity:\n  - {1}\n  - {2}\n---\n"),
    "closed by dots": ("---\na: 1\n...\nbody", "---\na: 1\nactivity:\n  - {1}\n  - {2}\n...\nbody"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "after"), PLACES.values(), ids=PLACES)
def test_records_go_to_the_end_of_the_list(text: str, after: str) -> None:
    expected = after.replace("{1}", LINE_ONE).replace("{2}", LINE_TWO)
    assert add_activity(text, [ONE, TWO]) == Edited(expected)
    assert read_head(expected)["activity"][-2:] == [show(ONE), show(TWO)]


@pytest.mark.parametrize("text", [text for text, _ in PLACES.values()], ids=PLACES)
def test_what_is_there_is_not_added_twice(text: str) -> None:
    once = add_activity(text, [ONE]).text
    assert once != text
    assert add_activity(once, [ONE, ONE]) == Edited(once)
    both = add_activity(once, [ONE, TWO, TWO]).text
    assert read_head(both)["activity"] == [*read_head(once)["activity"], show(TWO)]


def test_a_record_that_somebody_wrote_otherwise_is_the_same_record() -> None:
    text = (
        "---\nactivity:\n  - operation: write\n    session: 'sess_1735460685_d4e5f6'\n    parent_session: null\n"
        "    time: '2026-01-02T03:05:00Z'\n    note: mine\n---\n"
    )
    assert add_activity(text, [TWO]) == Edited(text)
    assert add_activity(text, [TWO._replace(operation="edit")]).text != text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Title\n",
        "---",
        "---\n",
        "---\nno end: 1\n",
        "text\n---\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "\n---\n---\n",
    ],
)
def test_a_file_without_a_frontmatter_is_left_as_it_is(text: str) -> None:
    assert add_activity(text, [ONE]) == Edited(text)


def test_without_records_nothing_changes() -> None:
    text = "---\na: 1\n---\n"
    assert add_activity(text, []) == Edited(text)


# --- what is left alone ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "head",
    ["title: one: two", "- a list", "just words", "a: [1", 'a: "open', "\ta: 1", "a: 1\n b: 2", "x: " + "[" * 5000,
     "{activity: [}"],
)  # fmt: skip
def test_what_cannot_be_read_is_told_and_left_alone(head: str) -> None:
    text = f"---\n{head}\n---\nbody\n"
    edited = add_activity(text, [ONE])
    assert edited.text == text
    assert edited.diagnostic is not None
    assert edited.diagnostic.code == "ACT001"
    assert edited.diagnostic.place is not None


@pytest.mark.parametrize(
    "head",
    ["activity: hiking", "activity: {a: 1}", "activity: 3", "activity: []\nactivity: []", "{a: 1}", "{}",
     "base: &b [x]\nactivity: *b", "base: &b {activity: [x]}\n<<: *b", "activity: &a []", "activity: !!set {x}",
     "activity:\n  - |+\n    kept\n\n"],
)  # fmt: skip
def test_what_is_no_plain_list_is_told_and_left_alone(head: str) -> None:
    text = f"---\n{head}\n---\nbody\n"
    edited = add_activity(text, [ONE])
    assert edited.text == text
    assert edited.diagnostic is not None
    assert (edited.diagnostic.code, edited.diagnostic.pointer) == ("ACT002", "/activity")


@pytest.mark.slow
def test_a_list_does_not_grow_without_an_end() -> None:
    text = "---\na: 1\n---\n"
    for start in range(0, 500, 100):
        text = add_activity(text, [TWO._replace(session=f"s{number}") for number in range(start, start + 100)]).text
    assert len(read_head(text)["activity"]) == 500
    edited = add_activity(text, [ONE])
    assert edited.text == text
    assert edited.diagnostic is not None
    assert "more than 500" in edited.diagnostic.message


def test_records_that_are_too_large_are_left_out() -> None:
    text = "---\na: 1\n---\n"
    records = [TWO._replace(path=f"{number}{'x' * 5000}") for number in range(100)]
    edited = add_activity(text, records)
    assert (edited.text, edited.diagnostic and edited.diagnostic.code) == (text, "ACT002")
    assert len(add_activity(text, records[:1]).text) < 1200


# --- whatever there is -----------------------------------------------------------------------------------------------

scalars = st.none() | st.booleans() | st.integers(-999, 999) | st.text(max_size=12) | st.dates().map(str)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner))
tables = st.dictionaries(st.text(min_size=1, max_size=8), values, max_size=5)
texts = st.text(max_size=30)
records = st.builds(FileActivity, texts, st.none() | texts, texts, texts, st.none() | texts)


@pytest.mark.slow
@given(
    tables, st.lists(values, max_size=3) | st.none(), st.lists(records, max_size=4), st.text(max_size=40),
    st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip
def test_the_body_stays_and_the_values_are_the_old_ones_and_the_records(  # noqa: PLR0917 - one for each thing to vary
    table: dict[str, Any], listed: list[Any] | None, new: list[FileActivity], body: str,
    flow: bool, mark: bool, newline: str,  # noqa: FBT001 - drawn, not passed
) -> None:  # fmt: skip
    if listed is not None:
        table = {**table, "activity": listed}
    head = yaml.safe_dump(table, default_flow_style=None if flow else False, allow_unicode=True, sort_keys=False)
    text = f"{chr(0xFEFF) if mark else ''}---\n{head if table else ''}---\n".replace("\n", newline) + body
    edited = add_activity(text, new)
    assert edited.text.endswith("---" + newline + body)
    if edited.text == text:
        return
    place = find_frontmatter(text)
    assert place is not None
    old = yaml.safe_load(text[place[0] : place[1]]) or {}
    after = read_head(edited.text)
    had = old.get("activity") or []
    assert {**after, "activity": had} == {**old, "activity": had}
    assert after["activity"][: len(had)] == had
    assert 0 < len(after["activity"]) - len(had) <= len(new)
    assert all(each in list(map(show, new)) for each in after["activity"][len(had) :])
    assert add_activity(edited.text, new).text == edited.text
    # Line by line nothing of the old text is gone, but for the end of a list in brackets.
    if not isinstance(old.get("activity"), list) and "activity" not in old:
        assert edited.text.replace(edited.text[place[1] : len(edited.text) - len(text) + place[1]], "", 1) == text


@given(st.text(alphabet="-:#[]{}|>&*!'\" \n\tabactivity", max_size=80), st.lists(records, max_size=2))
def test_any_text_comes_back_with_its_body(head: str, new: list[FileActivity]) -> None:
    text = f"---\n{head}\n---\nbody\n"
    edited = add_activity(text, new)
    assert edited.text.endswith("\n---\nbody\n")
    if edited.text != text:
        assert read_head(edited.text)["activity"]


# --- files -----------------------------------------------------------------------------------------------------------

TEXT = b"---\r\ntitle: x\r\n---\r\nbody \xff\xfe\0 bytes\r\n"


def test_a_file_gets_its_records_and_keeps_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes(TEXT)
    file.chmod(0o640)
    assert write_activity(str(tmp_path), "notes.md", [ONE]) == (True, None)
    added = f"activity:\r\n  - {LINE_ONE}\r\n".encode()
    assert file.read_bytes() == TEXT[:15] + added + TEXT[15:]
    assert file.stat().st_mode & 0o777 == 0o640
    before = file.stat()
    assert write_activity(str(tmp_path), "notes.md", [ONE]) == (False, None)
    assert file.stat() == before
    assert os.listdir(tmp_path) == ["notes.md"]  # noqa: PTH208 - names are what is asked for


@pytest.mark.parametrize("name", ["gone.md", "plain.md/x", "nowhere/x.md", "plain.md", "picture.png"])
def test_what_has_no_frontmatter_or_is_gone_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / "plain.md").write_text("# Title\n")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n" + bytes(1000))
    assert write_activity(str(tmp_path), name, [ONE]) == (False, None)


def test_links_out_of_the_root_are_refused_and_those_inside_followed(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "docs").mkdir(parents=True)
    (tmp_path / "outside.md").write_bytes(TEXT)
    (root / "docs/in.md").write_bytes(TEXT)
    (root / "out").symlink_to("../outside.md")
    (root / "up").symlink_to("..")
    (root / "link").symlink_to("docs/in.md")
    for path in ("out", "up/outside.md", "../outside.md", str(tmp_path / "outside.md"), "."):
        noted = write_activity(str(root), path, [ONE])
        assert noted.diagnostic is not None
        assert (noted.changed, noted.diagnostic.code) == (False, "ACT003")
        assert "outside the workspace" in noted.diagnostic.message
    assert (tmp_path / "outside.md").read_bytes() == TEXT
    assert write_activity(str(root), "link", [ONE]).changed
    assert (root / "link").is_symlink()
    assert b"activity" in (root / "docs/in.md").read_bytes()


def test_what_is_no_file_is_refused_and_nobody_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    with (tmp_path / "giant").open("wb") as giant:
        giant.write(b"---\na: 1\n---\n")
        giant.truncate(1 << 40)
    program = """
import sys
from remit.storage.activity_frontmatter import FileActivity, write_activity
for path in ("pipe", "folder", "giant", "a\\0b", "n" * 300):
    print(write_activity(sys.argv[1], path, [FileActivity("s", None, "edit", "t")]).diagnostic.code)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout == "ACT003\n" * 5


def test_a_disk_that_fails_is_told_and_the_file_is_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes.md").write_bytes(TEXT)
    failed = []

    def fail(*arguments: object) -> None:
        del arguments
        failed.append(True)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    noted = write_activity(str(tmp_path), "notes.md", [ONE])
    assert failed
    assert noted.diagnostic is not None
    assert "no space left" in noted.diagnostic.message
    assert (tmp_path / "notes.md").read_bytes() == TEXT


@pytest.mark.parametrize("times", [1, 10])
def test_a_file_that_changes_meanwhile_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    file = tmp_path / "notes.md"
    file.write_bytes(TEXT)
    original = activity_frontmatter.add_activity
    changes: list[bool] = []

    def add(text: str, new: Any) -> Edited:  # noqa: ANN401 - handed on
        if len(changes) < times:
            changes.append(True)
            file.write_bytes(TEXT + b"more" * len(changes))
        return original(text, new)

    monkeypatch.setattr(activity_frontmatter, "add_activity", add)
    noted = write_activity(str(tmp_path), "notes.md", [ONE])
    assert changes
    assert noted.changed is (times == 1)
    assert file.read_bytes().endswith(b"more")
    assert (noted.diagnostic is None) is (times == 1)
