"""Stored snapshots: what comes back is what was put in, and bytes that are no snapshot are refused in one sentence."""

import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.errors import InputError
from remit.workspace.evidence import stored
from remit.workspace.evidence.snapshot import take_snapshot
from remit.workspace.evidence.stored import parse_snapshot, render_snapshot
from remit.workspace.evidence.values import Folder, Snapshot
from tests.workspace.evidence.trees import write_tree

SMALL = Snapshot("/root", 5, {"": Folder(b"a\0b", bytes(80))}, {"b": "a"}, {"a": "0" * 64}, frozenset("a"), {"c": "no"})


def test_a_snapshot_comes_back_as_it_was(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "one", "docs/b.md": "two", os.fsdecode(b"\xff/\xfe.md"): "x"})
    (tmp_path / "link").symlink_to(os.fsdecode(b"\xff\n"))
    (tmp_path / "empty").mkdir()
    snapshot = take_snapshot(tmp_path, hash_paths=["docs"])
    assert snapshot.hashes
    assert snapshot.links
    snapshot = snapshot._replace(racy=frozenset({"a.md"}), gaps={"x/y": "no permission", "": "z"})
    assert parse_snapshot(render_snapshot(snapshot)) == snapshot


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
SNAPSHOTS = st.builds(
    Snapshot,
    TEXT,
    st.integers(0, 2**63 - 1),
    st.dictionaries(
        TEXT, st.lists(TEXT.filter(bool)).map(lambda names: Folder("\0".join(names).encode(), bytes(40 * len(names))))
    ),
    st.dictionaries(TEXT, TEXT),
    st.dictionaries(TEXT, st.binary(min_size=32, max_size=32).map(bytes.hex)),
    st.frozensets(TEXT),
    st.dictionaries(TEXT, TEXT),
)


@given(SNAPSHOTS)
def test_every_snapshot_comes_back(snapshot: Snapshot) -> None:
    assert parse_snapshot(render_snapshot(snapshot)) == snapshot


def test_bytes_that_were_cut_off_or_went_bad_are_refused() -> None:
    data = render_snapshot(SMALL)
    for length in range(len(data)):
        with pytest.raises(InputError, match="the snapshot cannot be used"):
            parse_snapshot(data[:length])
    for at in range(len(data)):
        with pytest.raises(InputError, match="the snapshot cannot be used") as caught:
            parse_snapshot(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert caught.value.hint
    with pytest.raises(InputError, match="as long as it says"):
        parse_snapshot(data + b"x")


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        parse_snapshot(data)


@pytest.mark.parametrize(
    "snapshot",
    [
        SMALL._replace(folders={"": Folder(b"a", bytes(80))}),
        SMALL._replace(folders={"": Folder(b"", bytes(40))}),
        SMALL._replace(folders={"": Folder(b"a", bytes(39))}),
        SMALL._replace(folders={"a\0b": Folder(b"", b"")}),
        SMALL._replace(links={"a": "b\0c"}),
        SMALL._replace(hashes={"a": "00"}),
        SMALL._replace(root="a\0b"),
    ],
    ids=["facts", "names", "row", "path", "pair", "digest", "root"],
)
def test_parts_that_do_not_fit_together_are_refused(snapshot: Snapshot) -> None:
    """The check sum is no seal: these have a good one."""
    with pytest.raises(InputError, match="do not fit together"):
        parse_snapshot(render_snapshot(snapshot))


def test_lengths_that_lie_are_refused() -> None:
    data = bytearray(render_snapshot(SMALL))
    at = data.index(struct.pack("=q", 5)) + 8
    first, second = struct.unpack_from("=2q", data, at)
    for lengths in ((-1, first + second + 1), (first + second, 0), (1 << 62, -(1 << 62) + first + second)):
        struct.pack_into("=2q", data, at, *lengths)
        with pytest.raises(InputError, match="cannot be used"):
            parse_snapshot(bytes(data))


def test_what_is_too_large_is_neither_read_nor_made(monkeypatch: pytest.MonkeyPatch) -> None:
    data = render_snapshot(SMALL)
    monkeypatch.setattr(stored, "MAX_SNAPSHOT_BYTES", len(data) - 1)
    with pytest.raises(InputError, match="larger than"):
        parse_snapshot(data)
    with pytest.raises(InputError, match="larger than"):
        render_snapshot(SMALL)
