"""All pages of the reference: how their examples are played, and how they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.reference import examples
from tools.reference.codes import render_codes
from tools.reference.commands import render_commands
from tools.reference.rules import render_rules
from tools.reference.schemas import render_schemas
from tools.reference.settings import render_settings
from tools.reference.source import ROOT
from tools.reference.stage import FILES, play

if TYPE_CHECKING:
    from pathlib import Path

    from tools.reference.stage import Played

DOCS = ROOT / "docs"
FOLDERS = ("commands", "rules", "schemas")
"""Where every file is one of these pages."""


def play_alone(folder: Path) -> list[Played]:
    """Play what one machine can show by itself, in an empty folder."""
    return [
        *play(examples.MESSAGES, folder / "messages", ROOT / "examples" / "messages"),
        *play(examples.AGENTS, folder / "agents", ROOT / "examples" / "faulty"),
        *play(examples.WORK, folder / "work", FILES),
    ]


def play_cluster(folder: Path, database: str) -> list[Played]:
    """Play what needs a database, in an empty folder."""
    return play(examples.CLUSTER, folder / "cluster", FILES, {"REMIT_ENGINE": database})


def render_plain() -> dict[str, str]:
    """Every page without examples, by its path below docs/."""
    return {**render_rules(), **render_settings(), **render_codes(), **render_schemas()}


def render_pages(played: list[Played]) -> dict[str, str]:
    """Every page, by its path below docs/."""
    return {**render_commands(played), **render_plain()}


def list_stale(pages: dict[str, str], docs: Path = DOCS) -> list[Path]:
    """Files that lie among the pages and are none."""
    kept = {docs / path for path in pages}
    return sorted(path for folder in FOLDERS for path in (docs / folder).glob("*") if path not in kept)


def write_pages(pages: dict[str, str], docs: Path = DOCS) -> list[str]:
    """Write the pages that are not what they should be, and remove those that are none; which they were."""
    stale = list_stale(pages, docs)
    for path in stale:
        path.unlink()
    changed = [name for name, text in pages.items() if _load(docs / name) != text]
    for name in changed:
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(pages[name], encoding="utf-8")
    return [*changed, *(str(path.relative_to(docs)) for path in stale)]


def _load(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
