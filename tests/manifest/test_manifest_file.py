"""The beginning of a manifest: what it held is known again, whatever was appended."""

import os
from pathlib import Path

import pytest

from remit.manifest.manifest_file import ManifestPrefix, has_prefix, read_prefix

OLD = b'{"id":"a-2026-01-19"}\n' * 60_000  # more than one block


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "MANIFEST.jsonl"
    path.write_bytes(OLD)
    return path


def test_a_manifest_that_only_grew_has_kept_its_beginning(file: Path) -> None:
    beginning = read_prefix(str(file))
    assert beginning.size_bytes == len(OLD)
    with file.open("ab") as appended:
        appended.write(b"{}\n")
    assert has_prefix(str(file), beginning)


@pytest.mark.parametrize("data", [b"", OLD[:-1], b"\n" * len(OLD) + b"{}\n", OLD[:-3] + b'b"}'], ids=len)
def test_another_content_is_noticed(file: Path, data: bytes) -> None:
    beginning = read_prefix(str(file))
    file.write_bytes(data)
    assert not has_prefix(str(file), beginning)


@pytest.mark.parametrize("there", ["nothing", "folder", "pipe"])
def test_what_is_no_file_has_kept_nothing_and_is_not_waited_for(file: Path, there: str) -> None:
    beginning = read_prefix(str(file))
    file.unlink()
    if there == "folder":
        file.mkdir()
    elif there == "pipe":
        os.mkfifo(file)
    assert not has_prefix(str(file), beginning)
    assert read_prefix(str(file)) == ManifestPrefix()
    assert has_prefix(str(file), ManifestPrefix())  # where there was nothing, nothing is lost
