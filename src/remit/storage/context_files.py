"""Load the context files that an agent file names (R1.4).

Only regular text files inside the root are loaded, whole and within a total size. A file that doesn't fit is listed
with its size, so that the agent can read it; none is truncated. Their content is data of the repository.
"""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING

from remit.errors import InputError
from remit.light_namedtuple import NamedTuple
from remit.model import Diagnostic
from remit.storage.safe_path import find_inside, open_target, read_target

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from remit.agents.context import ContextPath, ContextPlan
    from remit.model import Severity

_SHOWN = 200
NOT_THERE = "it doesn't exist"
_REFUSED = "its name is forbidden"


class LoadedFile(NamedTuple):
    """A file that was loaded whole."""

    path: str
    """The path below the root where it was found."""
    part: str
    text: str
    size_bytes: int


class SkippedFile(NamedTuple):
    """A file that wasn't loaded."""

    path: str
    """The path below the root where it was found; otherwise as the agent file spells it."""
    part: str
    reason: str = ""
    """Why it couldn't be loaded; empty if the agent can read it when needed."""
    size_bytes: int | None = None


class LoadedContext(NamedTuple):
    """The loaded context files, and those that the agent can read itself."""

    loaded: tuple[LoadedFile, ...] = ()
    named: tuple[SkippedFile, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


def context_missing(path: str, reason: str) -> Diagnostic:
    """A context file that the agent requires couldn't be loaded.

    Why: the agent starts without a file that its author relied on. Its instructions say so, and the run continues.

    Bad: `required: ["core/format.md"]`, and there is no such file, or it is outside of the workspace.

    Good: the file is at this path, is text, and is readable.
    """
    return Diagnostic("INP020", "warning", f"the required context file {_show(path)} was not loaded: {reason}",
                      "Correct the path in the agent's file, or write the file.")  # fmt: skip


def context_too_large(path: str, size_bytes: int, left_bytes: int) -> Diagnostic:
    """A context file that the agent requires exceeds the size limit.

    Why: half of a file misleads more than none. The agent gets its path and size, and can read it in parts.

    Bad: a required file of 80,000 bytes and the strategy lazy, which loads 50,000.

    Good: shorter files, or a larger `max_context_size`.
    """
    message = f"the required context file {_show(path)} has {size_bytes:,} bytes, and {left_bytes:,} were left"
    return Diagnostic("INP021", "warning", message, "Shorten it, or raise max_context_size.")


def context_forbidden(path: str) -> Diagnostic:
    """A context file has the name of an input that the agent file forbids.

    Why: a forbidden input must not come in as a file either. The file isn't loaded.

    Bad: `required: ["context/conversation_history.md"]` and `<forbidden>conversation_history</forbidden>`

    Good: one of the two is removed.
    """
    return Diagnostic("INP022", "warning", f"the context file {_show(path)} was not loaded: {_REFUSED}",
                      "Remove it from context_loading, or from inputs_forbidden.")  # fmt: skip


DIAGNOSTICS: dict[str, tuple[Callable[..., Diagnostic], Severity]] = {
    "INP020": (context_missing, "warning"),
    "INP021": (context_too_large, "warning"),
    "INP022": (context_forbidden, "warning"),
}


def load_context(root: str, plan: ContextPlan, *, forbidden: Collection[str] = ()) -> LoadedContext:
    """Load the files that a plan wants now, and list the rest.

    `forbidden`: the input names that the agent file forbids.
    """
    loading = _Loading(root, plan, forbidden)
    for wanted in plan.files:
        if plan.strategy != "minimal" or wanted.part == "required":
            loading.take(wanted)
    return LoadedContext(tuple(loading.loaded), tuple(loading.named), tuple(loading.diagnostics))


def render_context(context: LoadedContext) -> str:
    """Return the files that an agent started with, and the listed ones, as JSON."""
    loaded = [{"name": each.path, "part": each.part, "chars": len(each.text)} for each in context.loaded]
    named = [{"name": each.path, "part": each.part, "chars": None, "reason": each.reason} for each in context.named]
    return json.dumps([*loaded, *named], ensure_ascii=False)


class _Loading:
    """The files loaded so far, and the remaining size in bytes."""

    def __init__(self, root: str, plan: ContextPlan, forbidden: Collection[str]) -> None:
        from remit.agents.inputs import normalize_input_name  # noqa: PLC0415 - loads unicodedata

        self.root = root
        self.left_bytes = plan.budget_bytes
        self.loads = ("required", "optional") if plan.strategy == "eager" else ("required",)
        self.fold = normalize_input_name
        self.forbidden = {normalize_input_name(name) for name in forbidden}
        self.seen: set[str] = set()
        self.loaded: list[LoadedFile] = []
        self.named: list[SkippedFile] = []
        self.diagnostics: list[Diagnostic] = []

    def take(self, wanted: ContextPath) -> None:
        """Load a file, or list it."""
        if self._is_forbidden(wanted.path):
            self._refuse(wanted)
            return
        reason = NOT_THERE if wanted.places else "it isn't a path inside the workspace"
        for place in wanted.places:
            below = find_inside(self.root, place)
            if below is None:
                reason = "it leads out of the workspace"
            elif below in self.seen:
                return
            elif self._is_forbidden(below):
                self._refuse(wanted)
                return
            else:
                found = self._take_at(below, wanted)
                if found is None:
                    return
                reason = found if found != NOT_THERE else reason
        self._miss(wanted.path, wanted.part, reason)

    def _is_forbidden(self, path: str) -> bool:
        name = path.strip().rpartition("/")[2]
        return bool(self.forbidden) and not self.forbidden.isdisjoint(map(self.fold, (name, name.partition(".")[0])))

    def _refuse(self, wanted: ContextPath) -> None:
        self.named.append(SkippedFile(wanted.path, wanted.part, _REFUSED))
        self.diagnostics.append(context_forbidden(wanted.path))

    def _miss(self, path: str, part: str, reason: str) -> None:
        if part == "required":
            self.named.append(SkippedFile(path, part, reason))
            self.diagnostics.append(context_missing(path, reason))

    def _take_at(self, below: str, wanted: ContextPath) -> str | None:
        """Load the file at a path; return why not, if the next path has to be tried."""
        try:
            with open_target(self.root, below) as target:
                found = os.stat(target.name, dir_fd=target.folder, follow_symlinks=False)
                if not stat.S_ISREG(found.st_mode):
                    return "it isn't a file"
                self.seen.add(below)
                if wanted.part not in self.loads:
                    self.named.append(SkippedFile(below, wanted.part, size_bytes=found.st_size))
                    return None
                data = read_target(target, max_bytes=self.left_bytes) if found.st_size <= self.left_bytes else None
        except FileNotFoundError:
            return NOT_THERE
        except (OSError, InputError) as error:
            return f"it can't be read ({(getattr(error, 'strerror', '') or str(error)).lower()})"
        if data is None or len(data) > self.left_bytes:  # it may have grown meanwhile
            self._pass_over(below, wanted.part, max(found.st_size, len(data or b"")))
        else:
            self._keep(below, wanted.part, data)
        return None

    def _pass_over(self, below: str, part: str, size_bytes: int) -> None:
        self.named.append(SkippedFile(below, part, f"it is too large: {self.left_bytes:,} bytes were left", size_bytes))
        if part == "required":
            self.diagnostics.append(context_too_large(below, size_bytes, self.left_bytes))

    def _keep(self, below: str, part: str, data: bytes) -> None:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = "\0"
        if "\0" in text:
            self._miss(below, part, "it isn't text")
            return
        self.left_bytes -= len(data)
        self.loaded.append(LoadedFile(below, part, text, len(data)))


def _show(path: str) -> str:
    shown = "".join(char if char.isprintable() else "?" for char in path[: _SHOWN + 1])
    return f"'{shown[:_SHOWN]}…'" if len(shown) > _SHOWN else f"'{shown}'"
