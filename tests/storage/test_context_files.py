"""Context: what an agent is given to read, whole, within its bytes, and never from outside the workspace (R1.4)."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from remit.agents.context import ContextPlan, plan_context
from remit.agents.document import parse_document
from remit.storage.context_files import LoadedContext, load_context

if TYPE_CHECKING:
    from pathlib import Path


def write(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_md", ".md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def plan(**context: object) -> ContextPlan:
    lines = "".join(f"  {key}: {value}\n" for key, value in context.items())
    text = f"---\nname: planner\nversion: 1.0.0\nagent_type: planning\ncontext_loading:\n{lines}---\n"
    return plan_context(parse_document(".opencode/agent/planner.md", text))


def paths(context: LoadedContext) -> tuple[list[str], list[str]]:
    return [each.path for each in context.loaded], [each.path for each in context.named]


NAMED = {"index": "docs/index.md", "required": "[a.md]", "optional": "[b.md]"}


@pytest.mark.parametrize(
    ("strategy", "loaded", "named"),
    [
        ("lazy", ["docs/a.md"], ["docs/b.md", "docs/index.md"]),
        ("eager", ["docs/a.md", "docs/b.md"], ["docs/index.md"]),
        ("minimal", ["docs/a.md"], []),
    ],
)
def test_the_strategy_says_what_is_loaded_now(
    tmp_path: Path, strategy: str, loaded: list[str], named: list[str]
) -> None:
    """R1.4, R1.32: lazy loads what is required and names the rest, eager loads both, minimal names nothing."""
    write(tmp_path, docs__a_md="A", docs__b_md="B", docs__index_md="I")
    context = load_context(str(tmp_path), plan(strategy=strategy, **NAMED))
    assert paths(context) == (loaded, named)
    assert context.diagnostics == ()
    assert all(not each.reason and each.size_bytes == 1 for each in context.named)


@pytest.mark.parametrize(("strategy", "budget"), [("lazy", 50_000), ("eager", 100_000), ("minimal", 10_000)])
def test_each_strategy_has_its_bytes(tmp_path: Path, strategy: str, budget: int) -> None:
    write(tmp_path, a_md="x" * budget, b_md="y")
    context = load_context(str(tmp_path), plan(strategy=strategy, required="[a.md, b.md]"))
    assert paths(context) == (["a.md"], ["b.md"])
    write(tmp_path, a_md="x" * (budget + 1))
    assert paths(load_context(str(tmp_path), plan(strategy=strategy, required="[a.md, b.md]"))) == (["b.md"], ["a.md"])


def test_a_size_of_its_own_counts_and_odd_ones_do_not() -> None:
    assert plan(strategy="lazy", max_context_size=70).budget_bytes == 70
    assert plan(strategy="lazy", max_context_size=10**15).budget_bytes == 1_000_000
    for odd in ("-1", "0", "true", "1.5", "'7'", "[1]"):
        assert plan(strategy="lazy", max_context_size=odd).budget_bytes == 50_000
    assert plan(strategy="whatever").strategy == "lazy"
    assert plan(strategy="[x]").strategy == "lazy"


def test_what_does_not_fit_is_named_whole_and_the_next_one_is_tried(tmp_path: Path) -> None:
    write(tmp_path, a_md="x" * 60, b_md="y" * 60, c_md="z" * 40)
    context = load_context(str(tmp_path), plan(required="[a.md, b.md, c.md]", max_context_size=100))
    assert paths(context) == (["a.md", "c.md"], ["b.md"])
    (finding,) = context.diagnostics
    assert (finding.code, finding.severity) == ("INP021", "warning")
    assert context.named[0].size_bytes == 60
    assert "40 bytes were left" in context.named[0].reason


def test_an_optional_file_that_does_not_fit_is_no_finding(tmp_path: Path) -> None:
    write(tmp_path, a_md="x" * 60, b_md="y" * 60)
    context = load_context(str(tmp_path), plan(strategy="eager", optional="[a.md, b.md]", max_context_size=100))
    assert paths(context) == (["a.md"], ["b.md"])
    assert context.diagnostics == ()


def test_a_required_file_that_is_missing_is_told_and_an_optional_one_is_not(tmp_path: Path) -> None:
    context = load_context(str(tmp_path), plan(required="[a.md]", optional="[b.md]", index="c.md"))
    assert paths(context) == ([], ["a.md"])
    (finding,) = context.diagnostics
    assert (finding.code, finding.severity) == ("INP020", "warning")


def test_a_file_is_found_beside_the_index_before_the_root(tmp_path: Path) -> None:
    write(tmp_path, docs__a_md="near", a_md="far", b_md="root")
    context = load_context(str(tmp_path), plan(index="docs/index.md", required="[a.md, b.md]"))
    assert [each.text for each in context.loaded] == ["near", "root"]


def test_nothing_outside_and_nothing_of_ours_is_read(tmp_path: Path) -> None:
    root = tmp_path / "root"
    write(root, a_md="A")
    (tmp_path / "secret.md").write_text("secret")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "far").symlink_to(tmp_path)
    (root / ".remit").mkdir()
    (root / ".remit" / "key.md").write_text("secret")
    (root / "own.md").symlink_to(".remit/key.md")
    wanted = ["out.md", "far/secret.md", ".remit/key.md", "own.md", "/etc/passwd", "../secret.md", "a.md"]
    context = load_context(str(root), plan(required=wanted))
    assert [each.text for each in context.loaded] == ["A"]
    assert [each.path for each in context.named] == wanted[:-1]
    assert {finding.code for finding in context.diagnostics} == {"INP020"}


def test_a_link_inside_is_followed_and_its_file_loaded_once(tmp_path: Path) -> None:
    write(tmp_path, a_md="A")
    (tmp_path / "b.md").symlink_to("a.md")
    assert paths(load_context(str(tmp_path), plan(required="[b.md, a.md, ./a.md]"))) == (["a.md"], [])


def test_pipes_folders_and_what_is_no_text_are_not_opened_or_not_kept(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "binary.md").write_bytes(b"a\0b")
    (tmp_path / "latin.md").write_bytes(b"caf\xe9")
    started = time.monotonic()
    context = load_context(str(tmp_path), plan(required="[pipe.md, folder.md, binary.md, latin.md]"))
    assert time.monotonic() - started < 5
    assert context.loaded == ()
    assert [each.reason for each in context.named] == ["it isn't a file"] * 2 + ["it isn't text"] * 2
    assert len(context.diagnostics) == 4


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_file_without_permission_is_told(tmp_path: Path) -> None:
    write(tmp_path, a_md="A")
    (tmp_path / "a.md").chmod(0)
    (named,) = load_context(str(tmp_path), plan(required="[a.md]")).named
    assert "can't be read" in named.reason


def test_a_giant_of_nothing_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(1 << 40)
    started = time.monotonic()
    (named,) = load_context(str(tmp_path), plan(required="[a.md]")).named
    assert named.size_bytes == 1 << 40
    assert time.monotonic() - started < 5


@pytest.mark.parametrize("name", ["conversation_history.md", "Conversation-History.md", "conversation_history"])
def test_a_forbidden_input_does_not_come_in_as_a_file(tmp_path: Path, name: str) -> None:
    """R1.11."""
    (tmp_path / name).write_text("all of it")
    (tmp_path / "harmless.md").symlink_to(name)
    wanted = plan(required=[name, "harmless.md"])
    context = load_context(str(tmp_path), wanted, forbidden=["conversation_history"])
    assert context.loaded == ()
    assert [finding.code for finding in context.diagnostics] == ["INP022", "INP022"]
    assert len(load_context(str(tmp_path), wanted).loaded) == 1


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xef\xbb\xbfA")
    (loaded,) = load_context(str(tmp_path), plan(required="[a.md]")).loaded
    assert loaded.text == "A"
