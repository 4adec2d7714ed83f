"""SARIF: diagnostics in the format of code scanning services.

Owns the log's shape (SARIF 2.1.0) and GitHub's limits: at most 5,000 results in a run are shown, the gravest first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from remit.model import Diagnostic, Fix
    from remit.views.explanations import Explanation

MAX_RESULTS = 5_000
MAX_TEXT = 1_000
_LEVELS = {"error": "error", "warning": "warning", "note": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def shape_sarif(
    diagnostics: Mapping[str, Sequence[Diagnostic]], *, version: str, explain: Mapping[str, Explanation]
) -> dict[str, Any]:
    """One log with one run: the rules that were broken, and where."""
    rows = [(path, diagnostic) for path, found in diagnostics.items() for diagnostic in found]
    order = ("error", "warning", "note")
    rows.sort(key=lambda row: order.index(row[1].severity))
    rows = rows[:MAX_RESULTS]
    codes = sorted({diagnostic.code for _, diagnostic in rows})
    driver = {
        "name": "remit",
        "semanticVersion": version,
        "rules": [_shape_rule(explain[code]) for code in codes],
    }
    results = [_build_result(path, diagnostic, codes.index(diagnostic.code)) for path, diagnostic in rows]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _shape_rule(explanation: Explanation) -> dict[str, Any]:
    first, _, rest = explanation.documentation.partition("\n")
    text = f"{first}\n{rest}".strip()[:MAX_TEXT]
    return {
        "id": explanation.code,
        "name": explanation.name.title().replace("-", ""),
        "shortDescription": {"text": first[:MAX_TEXT]},
        "fullDescription": {"text": text},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": _LEVELS[explanation.severity]},
        "properties": {"precision": "high"},
    }


def _build_result(path: str, diagnostic: Diagnostic, index: int) -> dict[str, Any]:
    uri = quote(path.encode("utf-8", "surrogateescape"))
    artifact = {"uri": f"file://{uri}" if path.startswith("/") else uri}
    location: dict[str, Any] = {"artifactLocation": artifact}
    if diagnostic.place is not None:
        location["region"] = _build_region(diagnostic.place)
    result = {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": _clean(f"{diagnostic.message}. {diagnostic.hint}"[:MAX_TEXT])},
        "locations": [{"physicalLocation": location}],
    }
    if diagnostic.fix is not None and all(edit.place for edit in diagnostic.fix.edits):
        result["fixes"] = [_build_fix(diagnostic.fix, artifact)]
    return result


def _build_region(place: tuple[int, int, int, int]) -> dict[str, int]:
    line, column, end_line, end_column = place
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _build_fix(fix: Fix, artifact: dict[str, str]) -> dict[str, Any]:
    replacements = [
        {"deletedRegion": _build_region(edit.place), "insertedContent": {"text": _clean(edit.content)}}
        for edit in fix.edits
        if edit.place is not None
    ]
    change = {"artifactLocation": artifact, "replacements": replacements}
    return {"description": {"text": _clean(fix.message[:MAX_TEXT])}, "artifactChanges": [change]}


def _clean(text: str) -> str:
    """Replace unpaired surrogates, which are invalid in JSON files, by U+FFFD."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text
