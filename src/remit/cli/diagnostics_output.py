"""Findings as they come: shown in each of the output formats, none of which keeps them.

Owns the showing of findings about files that may be too long to be held.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.cli.output import get_paint, hand_over, say
from remit.views.json_objects import build_diagnostic
from remit.views.render import SEVERITIES, count, render_github, render_json, render_line

if TYPE_CHECKING:
    from remit.model import Diagnostic
    from remit.views.excerpt import SourceText

_BATCH = 500


class DiagnosticOutput:
    """Collects lines of output and sends them in batches; counts what it was given."""

    opening = closing = ""

    def __init__(self) -> None:
        self.totals = dict.fromkeys(SEVERITIES, 0)
        self.paint = get_paint()
        self._lines: list[str] = [self.opening] if self.opening else []

    @property
    def failed(self) -> bool:
        """Whether there was an error."""
        return self.totals["error"] > 0

    def add(self, finding: Diagnostic, filename: str, text: SourceText) -> None:
        """Show a finding about a part of a file."""
        self.totals[finding.severity] += 1
        line = self.render(finding, filename, text)
        if line is not None:
            self._lines.append(line)
        if len(self._lines) >= _BATCH:
            self.flush()

    def render(self, finding: Diagnostic, filename: str, text: SourceText) -> str | None:
        """A finding in this format; None where it is not shown."""
        raise NotImplementedError

    def flush(self) -> None:
        """Send what was collected."""
        if self._lines:
            say("\n".join(self._lines))
            self._lines = []

    def close(self, sentence: str) -> None:
        """Send the rest, and for people a sentence that sums up."""
        del sentence
        if self.closing:
            self._lines.append(self.closing)
        self.flush()

    def count(self) -> str:
        """How many findings there were of each severity."""
        return ", ".join(count(total, severity) for severity, total in self.totals.items() if total)


class ConciseDiagnostics(DiagnosticOutput):
    """For editors and logs: a line for each finding."""

    def render(self, finding: Diagnostic, filename: str, text: SourceText) -> str | None:
        """One line."""
        del text
        return render_line(finding, filename)

    def close(self, sentence: str) -> None:
        """Sum up."""
        self.flush()
        say(sentence)


class FullDiagnostics(ConciseDiagnostics):
    """For people: each finding with the line that it is about, up to a number that somebody reads."""

    def render(self, finding: Diagnostic, filename: str, text: SourceText) -> str | None:
        """The finding at length."""
        from remit.terminal import count_columns
        from remit.views.excerpt import MAX_FINDINGS, render_finding

        if sum(self.totals.values()) > MAX_FINDINGS:
            return None
        return f"{render_finding(finding, filename, text, paint=self.paint, columns=count_columns())}\n"

    def close(self, sentence: str) -> None:
        """Sum up, and say what was not shown."""
        from remit.views.excerpt import MAX_FINDINGS

        more = sum(self.totals.values()) - MAX_FINDINGS
        if more > 0:
            self._lines.append(f"… and {more} more; --output-format concise shows them all\n")
        super().close(sentence)


class JsonDiagnostics(DiagnosticOutput):
    """For programs: one list."""

    opening = '{"items":['

    def flush(self) -> None:
        """Send it in UTF-8, whatever the locale."""
        if self._lines:
            hand_over("\n".join(self._lines))
            self._lines = []

    def render(self, finding: Diagnostic, filename: str, text: SourceText) -> str | None:
        """One object of the list."""
        del text
        comma = "," if sum(self.totals.values()) > 1 else ""
        return f"{comma}{render_json(build_diagnostic(finding, filename))}"

    def close(self, sentence: str) -> None:
        """End the list, and send the rest."""
        del sentence
        self._lines.append(f'],"total":{sum(self.totals.values())}}}')
        self.flush()


class GithubDiagnostics(DiagnosticOutput):
    """For GitHub Actions: an annotation for each finding."""

    def render(self, finding: Diagnostic, filename: str, text: SourceText) -> str | None:
        """One annotation."""
        del text
        return render_github(finding, filename)


DIAGNOSTIC_OUTPUTS: dict[str, type[DiagnosticOutput]] = {
    "full": FullDiagnostics,
    "concise": ConciseDiagnostics,
    "json": JsonDiagnostics,
    "github": GithubDiagnostics,
}
