"""Baselines on disk: created once, then only made shorter. Linting and the check of manifests share them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.light_namedtuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remit.model import Diagnostic


class Weighed(NamedTuple):
    """What is left of the diagnostics of each file once a baseline was subtracted."""

    findings: Mapping[str, tuple[Diagnostic, ...]]
    known: int
    """How many diagnostics are left out because the baseline has them."""
    held: int
    """How many diagnostics the baseline has now, those of other files included."""
    made: bool = False
    """Whether the baseline was created."""
    shorter: bool = False
    """Whether it was made shorter."""


def subtract_baseline(
    file: str,
    found: Mapping[str, tuple[Diagnostic, ...]],
    load_lines: Callable[[str], list[str]],
    *,
    root: str,
    is_asked: Callable[[str, str], bool] | None = None,
) -> Weighed:
    """Leave out what the baseline has. If there is no such file yet, it is created; it never grows by itself.

    `found` has every file that was checked, by its path below `root`. Of other files the baseline keeps what it has,
    unless they are gone. `is_asked` says whether a code was looked for in a file.
    """
    from remit.agents.baseline import count_known, make_baseline, parse_baseline, render_baseline, subtract  # noqa: PLC0415 - rare
    from remit.storage.files import load_bytes, write_text  # noqa: PLC0415

    if os.path.isdir(file):
        raise InputError(f"the baseline '{file}' is a folder", hint="name a file: one that is not there is made")
    total = sum(len(each) for each in found.values())
    if not os.path.lexists(file):
        if os.environ.get("CI"):  # a name that is misspelt there must not excuse everything
            hint = "make it once where you work, and commit it"
            raise InputError(f"there is no baseline '{file}', and CI makes none", hint=hint)
        write_text(file, render_baseline(make_baseline(found, load_lines)))
        return Weighed(dict.fromkeys(found, ()), known=total, held=total, made=True)
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
    findings = {path: new[path] for path in found}
    known = total - sum(len(each) for each in findings.values())
    return Weighed(findings, known=known, held=count_known(rest), shorter=shorter)
