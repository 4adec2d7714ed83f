"""The house: which module imports which, read from the code, and how the page about it shows that.

Owns the floors and the import graph. `tests/test_house.py` fails if an import points up; `make docs` writes a page of
the packages with what they import.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "remit"
PAGE = ROOT / "docs" / "architecture.md"

PORCH = "__init__"
FLOORS: tuple[tuple[str, ...], ...] = (
    ("quick_tuple",),  # what values are made of
    ("model", "errors", "lazy", "globs", "spelling", "quick_json", "quick_hash"),
    ("places", "prose", "schemas"),  # lines and columns, sentences, the shape of results
    ("harnesses", "confine"),  # what each harness calls things; the launcher of confined commands
    ("contract", "agents", "policy", "config"),
    ("workspace", "runners"),
    ("evidence",),  # the tree before and after a run
    ("delegate",),
    ("app",),
    (PORCH,),  # the public names, taken from app and below when they are first asked for
    ("doors", "testing"),
    ("__main__",),  # `python -m remit`: opens the command line door
)
"""The ground floor first."""
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
_GROUND = (*FLOORS[0], *FLOORS[1], *FLOORS[2])
_TOLD = "An arrow is left out where another way leads there, too; the table has all of them."


class Import(NamedTuple):
    """One import statement: who imports, what, and on which line."""

    importer: str
    line: int
    imported: str


# --- reading ---------------------------------------------------------------------------------------------------------


def list_modules(package: Path = PACKAGE) -> Iterator[tuple[str, Path]]:
    """The dotted name and file of every module in a package."""
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file


def load_imports(package: Path = PACKAGE) -> list[Import]:
    """Every import of the package's own modules, wherever in a file it stands."""
    found = dict(list_modules(package))
    imports = []
    for name, file in found.items():
        text = file.read_text(encoding="utf-8")
        tree = ast.parse(text, filename=str(file))
        nodes: Iterable[ast.AST] = _list_statements(tree)
        if "import_module" in text or "__import__" in text:  # calls stand anywhere, and to look for them takes long
            nodes = ast.walk(tree)
        for node in nodes:
            for target in _list_targets(node, parent=name if file.stem == "__init__" else name.rpartition(".")[0]):
                # `from package import thing`: the thing may be a module of its own, or a name in the package
                known = target if target in found else target.rpartition(".")[0]
                if known in found:
                    imports.append(Import(name, getattr(node, "lineno", 0), known))
    return imports


def _list_statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Every statement, however deep."""
    left: list[ast.AST] = [tree]
    while left:
        node = left.pop()
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, ())
            if isinstance(inner, list):
                left += inner
        yield node


def _list_targets(node: ast.AST, *, parent: str) -> Iterator[str]:
    """The absolute dotted names that one syntax node imports."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                yield alias.name
        case ast.ImportFrom(module=module, names=names, level=level):
            above = parent.split(".")[: len(parent.split(".")) - level + 1] if level else []
            base = ".".join([*above, *([module] if module else [])])
            for alias in names:
                yield f"{base}.{alias.name}"
        case ast.Call(
            func=ast.Name(id="import_module" | "__import__") | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(dotted)), *_],
        ):
            yield dotted


def find_room(module: str) -> str:
    """The room a module is in: the first name below the package."""
    return module.split(".")[1] if "." in module else PORCH


def join_packages(imports: Iterable[Import]) -> dict[str, set[str]]:
    """What each room imports of the others."""
    rooms: dict[str, set[str]] = {room: set() for room in FLOOR_OF}
    for importer, _, imported in imports:
        here, there = find_room(importer), find_room(imported)
        if here != there:
            rooms[here].add(there)
    return rooms


# --- the page --------------------------------------------------------------------------------------------------------


def render_packages(rooms: Mapping[str, set[str]]) -> str:
    """The rooms with what they import, as a drawing and as a table."""
    above = {room: found - {*_GROUND} for room, found in rooms.items() if room not in (*_GROUND, "__main__")}
    lines = [_TOLD, "", "```mermaid", "flowchart TD"]
    for number, floor in reversed([*enumerate(FLOORS)]):
        named = [f"{_get_id(room)}[{_get_name(room)}]" for room in floor if room in above]
        if named:
            lines += [f'  subgraph f{number}[" "]', "    direction LR", *(f"    {each}" for each in named), "  end"]
    for room in sorted(above, key=_rank):
        for other in sorted(_drop_implied(above, room), key=_rank):
            lines.append(f"  {_get_id(room)} --> {_get_id(other)}")
    lines += ["```", "", "| room | imports, of the rooms below it | of the ground floor |", "|---|---|---|"]
    for room in sorted(above, key=_rank):
        ground = rooms[room] & {*_GROUND}
        lines.append(f"| {_show(room)} | {_show_all(above[room])} | {_show_all(ground)} |")
    return "\n".join(lines)


def _drop_implied(rooms: Mapping[str, set[str]], room: str) -> set[str]:
    """What a room imports that it does not reach through another: a drawing with all of it could not be read."""
    return {each for each in rooms[room] if not any(_reaches(rooms, other, each) for other in rooms[room] - {each})}


def _reaches(rooms: Mapping[str, set[str]], room: str, other: str) -> bool:
    return other in rooms[room] or any(_reaches(rooms, each, other) for each in rooms[room])


def _rank(room: str) -> tuple[int, str]:
    return -FLOOR_OF[room], room


def _get_id(room: str) -> str:
    return "porch" if room == PORCH else room


def _get_name(room: str) -> str:
    return "__init__.py" if room == PORCH else f"{room}/"


def _show(room: str) -> str:
    is_file = room == PORCH or room in _GROUND
    return f"`{room}.py`" if is_file else f"`{room}/`"


def _show_all(rooms: Iterable[str]) -> str:
    return ", ".join(_show(room) for room in sorted(rooms, key=_rank)) or "none"
