"""Output of diagnostics in each output format. Diagnostics are printed in batches, so that memory use stays bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cli.output import get_paint, print_lines, print_verbatim
from remit.views.json_builders import build_diagnostic
from remit.views.render import SEVERITIES, count, render_github, render_json, render_line

if TYPE_CHECKING:
    from remit.model import Diagnostic
    from remit.views.excerpt import SourceText

_BATCH = 500


class DiagnosticOutput:
    """Prints diagnostics in batches and counts them by severity."""

    opening = closing = ""

    def __init__(self) -> None:
        self.totals = dict.fromkeys(SEVERITIES, 0)
        self.paint = get_paint()
        self._lines: list[str] = [self.opening] if self.opening else []

    @property
    def failed(self) -> bool:
        """Return whether there was an error."""
        return self.totals["error"] > 0

    def add(self, diagnostic: Diagnostic, filename: str, text: SourceText) -> None:
        """Print a diagnostic about a part of a file."""
        self.totals[diagnostic.severity] += 1
        line = self.render(diagnostic, filename, text)
        if line is not None:
            self._lines.append(line)
        if len(self._lines) >= _BATCH:
            self.flush()

    def render(self, diagnostic: Diagnostic, filename: str, text: SourceText) -> str | None:
        """Render a diagnostic in this format; return None if it isn't shown."""
        raise NotImplementedError

    def flush(self) -> None:
        """Print the collected lines."""
        if self._lines:
            print_lines("\n".join(self._lines))
            self._lines = []

    def close(self, sentence: str) -> None:
        """Print the remaining lines, and in the formats for people a summary."""
        del sentence
        if self.closing:
            self._lines.append(self.closing)
        self.flush()

    def count(self) -> str:
        """Render the number of diagnostics of each severity."""
        return ", ".join(count(total, severity) for severity, total in self.totals.items() if total)


class ConciseDiagnostics(DiagnosticOutput):
    """For editors and logs: one line per diagnostic."""

    def render(self, diagnostic: Diagnostic, filename: str, text: SourceText) -> str | None:
        """Render one line."""
        del text
        return render_line(diagnostic, filename)

    def close(self, sentence: str) -> None:
        """Print the summary."""
        self.flush()
        print_lines(sentence)


class FullDiagnostics(ConciseDiagnostics):
    """For people: each diagnostic with an excerpt of the file, up to a maximum number."""

    def render(self, diagnostic: Diagnostic, filename: str, text: SourceText) -> str | None:
        """Render the diagnostic with an excerpt."""
        from remit.terminal import count_columns
        from remit.views.excerpt import MAX_DIAGNOSTICS, render_diagnostic

        if sum(self.totals.values()) > MAX_DIAGNOSTICS:
            return None
        return f"{render_diagnostic(diagnostic, filename, text, paint=self.paint, columns=count_columns())}\n"

    def close(self, sentence: str) -> None:
        """Print the summary and the number of diagnostics that were not shown."""
        from remit.views.excerpt import MAX_DIAGNOSTICS

        more = sum(self.totals.values()) - MAX_DIAGNOSTICS
        if more > 0:
            self._lines.append(f"… and {more} more; --output-format concise shows them all\n")
        super().close(sentence)


class JsonDiagnostics(DiagnosticOutput):
    """For programs: one JSON array."""

    opening = '{"items":['

    def flush(self) -> None:
        """Print the collected lines, in UTF-8 for any locale."""
        if self._lines:
            print_verbatim("\n".join(self._lines))
            self._lines = []

    def render(self, diagnostic: Diagnostic, filename: str, text: SourceText) -> str | None:
        """Render one element of the array."""
        del text
        comma = "," if sum(self.totals.values()) > 1 else ""
        return f"{comma}{render_json(build_diagnostic(diagnostic, filename))}"

    def close(self, sentence: str) -> None:
        """End the list, and send the rest."""
        del sentence
        self._lines.append(f'],"total":{sum(self.totals.values())}}}')
        self.flush()


class GithubDiagnostics(DiagnosticOutput):
    """For GitHub Actions: one annotation per diagnostic."""

    def render(self, diagnostic: Diagnostic, filename: str, text: SourceText) -> str | None:
        """Render one annotation."""
        del text
        return render_github(diagnostic, filename)


DIAGNOSTIC_OUTPUTS: dict[str, type[DiagnosticOutput]] = {
    "full": FullDiagnostics,
    "concise": ConciseDiagnostics,
    "json": JsonDiagnostics,
    "github": GithubDiagnostics,
}
