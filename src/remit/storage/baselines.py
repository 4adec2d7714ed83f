"""Baselines on disk, for linting and for checking manifests: created once, then only shortened."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Diagnostic


class BaselineResult(NamedTuple):
    """The diagnostics of each file without those of a baseline."""

    diagnostics: Mapping[str, tuple[Diagnostic, ...]]
    known: int
    """The number of diagnostics that the baseline removed."""
    remaining: int
    """The number of diagnostics in the baseline now, including those of other files."""
    created: bool = False
    """Whether the baseline was created."""
    shorter: bool = False
    """Whether it was shortened."""


def subtract_baseline(
    file: str,
    found: Mapping[str, tuple[Diagnostic, ...]],
    load_lines: Callable[[str], list[str]],
    *,
    root: str,
    is_asked: Callable[[str, str], bool] | None = None,
) -> BaselineResult:
    """Remove the diagnostics that the baseline has. A missing baseline is created; it never grows by itself.

    `found` has every file that was checked, by its path below `root`. The entries of other files stay in the baseline
    unless the files are gone. `is_asked` says whether a code was checked in a file.
    """
    from remit.agents.baseline import count_known, make_baseline, parse_baseline, render_baseline, subtract  # noqa: PLC0415 - rare
    from remit.storage.files import load_bytes, write_text  # noqa: PLC0415

    if os.path.isdir(file):
        raise InputError(f"the baseline '{file}' is a folder", hint="name a file; a missing one is created")
    total = sum(len(each) for each in found.values())
    if not os.path.lexists(file):
        if os.environ.get("CI"):  # a misspelled name must not hide all diagnostics
            hint = "create it locally, and commit it"
            raise InputError(f"there is no baseline '{file}', and none is created in CI", hint=hint)
        write_text(file, render_baseline(make_baseline(found, load_lines)))
        return BaselineResult(dict.fromkeys(found, ()), known=total, remaining=total, created=True)
    old = parse_baseline(load_bytes(file).decode("utf-8", "replace"), file)
    is_there = {path: os.path.lexists(os.path.join(root, path)) for path in old if path not in found}
    gone: dict[str, tuple[Diagnostic, ...]] = {path: () for path in is_there if not is_there[path]}
    new, rest = subtract(
        {**found, **gone},
        old,
        load_lines,
        is_asked=None if is_asked is None else lambda path, code: path in gone or is_asked(path, code),
    )
    shorter = render_baseline(rest) != render_baseline(old)
    if shorter:
        write_text(file, render_baseline(rest))
    left = {path: new[path] for path in found}
    known = total - sum(len(each) for each in left.values())
    return BaselineResult(left, known=known, remaining=count_known(rest), shorter=shorter)
