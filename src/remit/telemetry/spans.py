"""Spans: a finished run as spans of a trace.

Attributes have the names of OpenTelemetry's conventions for generative AI; all others begin with `remit.`. They contain
no prompt, answer or file name, and no secrets. The same run always gives the same spans, ids and times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from remit.errors import RunnerError
from remit.ledger.followers import measure_tree
from remit.ledger.runs import list_attempts, load_run
from remit.ledger.texts import load_text
from remit.model import ACCEPTABLE, NOTHING
from remit.runners import RunOutput, Usage
from remit.runners.registry import get_runner
from remit.runs.admission.run_config import read_run_config
from remit.runs.admission.trace_context import find_context, load_trace, make_span_id
from remit.runs.supervisor.usage import sum_usage
from remit.storage.secrets import redact

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from remit.ledger.followers import FinishedEvent
    from remit.ledger.home import Home
    from remit.ledger.runs import AttemptRow, Run
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.admission.trace_context import TraceContext

    Value = str | int | float | bool | Sequence[str]

_PROVIDERS = {"claude": "anthropic", "codex": "openai", "gemini": "gcp.gemini"}
_MODELS = {"google": "gcp.gemini", "xai": "x_ai", "mistral": "mistral_ai", "amazon-bedrock": "aws.bedrock"}
"""The conventions' names of providers that have another name in opencode."""
_MOST_CODES = 20
_MOST_LETTERS = 200


class Span(NamedTuple):
    """One span. Ids are hexadecimal, as in W3C trace contexts."""

    trace_id: str
    span_id: str
    parent_id: str
    """Empty for the first span of a trace."""
    name: str
    kind: str
    """client or internal."""
    begin_ms: int
    end_ms: int
    attributes: Mapping[str, Value]
    error: str = ""
    """The type of the error that it ended with; empty for none."""


class RunTelemetry(NamedTuple):
    """A finished run, with the values that spans and metrics contain."""

    row: Run
    config: RunConfig
    attempts: tuple[AttemptRow, ...]
    usage: Usage
    ended_ms: int
    common: Mapping[str, Value] = NOTHING
    """The attributes that its spans and metrics share."""

    @property
    def error(self) -> str:
        """The type of the error that the run ended with; empty for none."""
        row = self.row
        if row.stop_reason not in (None, "exited"):
            return str(row.stop_reason)
        if row.verdict is not None and row.verdict not in ACCEPTABLE:
            return row.verdict
        return "failed" if row.status == "failed" else ""


def load_run_telemetry(home: Home, finished: FinishedEvent) -> RunTelemetry | None:
    """Return the telemetry of a finished run; None if the run is no longer in the ledger."""
    row = load_run(home.ledger, finished.session_id)
    if row is None:
        return None
    config = read_run_config(row.details)
    attempts = tuple(list_attempts(home.ledger, row.session_id))
    common = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": _name_provider(row, config),
        "gen_ai.agent.name": _clean(row.agent),
    }
    usage, ended_ms = _sum_usage(row, config, attempts), row.ended_ms or finished.at_ms
    return RunTelemetry(row, config, attempts, usage, ended_ms, common)


def list_spans(home: Home, telemetry: RunTelemetry) -> list[Span]:
    """Return the spans of a run and its attempts, and of the tree of nested runs if the run is its first."""
    row = telemetry.row
    context = find_context(row.root_id, load_trace(home, row))
    if not context.is_sampled:  # the caller's trace isn't sampled
        return []
    run = _describe_tree(home, telemetry, context)
    parent_id = make_span_id(row.parent_id) if row.parent_id else context.span_id if run is None else run.span_id
    own = Span(
        context.trace_id, make_span_id(row.session_id), parent_id, f"invoke_agent {_clean(row.agent)}",
        "internal" if telemetry.config.is_harness_run or telemetry.config.settings.get("in_process") else "client",
        row.created_ms, max(telemetry.ended_ms, row.created_ms), _describe_run(home, telemetry), telemetry.error,
    )  # fmt: skip
    return [*([] if run is None else [run]), own, *_describe_attempts(telemetry, own)]


def _describe_run(home: Home, telemetry: RunTelemetry) -> dict[str, Value]:
    row, usage = telemetry.row, telemetry.usage
    attributes: dict[str, Value | None] = {
        **telemetry.common,
        "gen_ai.agent.id": row.session_id,
        "gen_ai.conversation.id": _find_conversation(home, telemetry),
        "gen_ai.request.model": _clean(telemetry.config.model or "") or None,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "error.type": telemetry.error or None,
        "remit.session": row.session_id,
        "remit.root": row.root_id,
        "remit.runner": _clean(row.runner) or None,
        "remit.depth": row.depth,
        "remit.path": [_clean(each) for each in row.path],
        "remit.status": row.status,
        "remit.verdict": row.verdict,
        "remit.stop_reason": row.stop_reason,
        "remit.attempts": len(telemetry.attempts),
        "remit.task": row.task_number,
        "remit.turns": row.turns,
        "remit.tokens": row.tokens,
        "remit.cost_usd": row.cost_usd,
        "remit.timeout_s": telemetry.config.timeout_s,
        "remit.harness_run": telemetry.config.is_harness_run or None,
        "remit.resume_of": _clean(telemetry.config.resume_of) or None,
        "remit.retry_of": _clean(telemetry.config.retry_of) or None,
    }
    return _drop_unknown(attributes)


def _describe_tree(home: Home, telemetry: RunTelemetry, context: TraceContext) -> Span | None:
    """Return the span of a tree of runs if a run is its first one and has nested runs, or is a task command."""
    row, command = telemetry.row, telemetry.config.command
    if row.parent_id is not None:
        return None
    count, ended_ms = measure_tree(home.ledger, row.root_id)
    if count < 2 and not command:  # noqa: PLR2004 - a single run needs no such span
        return None
    name = _clean(command or row.agent)
    attributes: dict[str, Value | None] = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": name,
        "error.type": telemetry.error or None,
        "remit.root": row.root_id,
        "remit.runs": count,
        "remit.status": row.status,
        "remit.task": row.task_number,
    }
    return Span(
        context.trace_id, make_span_id(f"{row.root_id}/run"), context.span_id, f"invoke_workflow {name}", "internal",
        row.created_ms, max(ended_ms, telemetry.ended_ms, row.created_ms), _drop_unknown(attributes), telemetry.error,
    )  # fmt: skip


def _describe_attempts(telemetry: RunTelemetry, own: Span) -> Iterator[Span]:
    last_ms = own.begin_ms
    for attempt in telemetry.attempts:
        # Remit sees an attempt of a harness's own agent only when the attempt ends.
        begin_ms = last_ms if telemetry.config.is_harness_run else max(attempt.started_ms, own.begin_ms)
        last_ms = max(attempt.ended_ms or telemetry.ended_ms, begin_ms)
        is_ended = attempt.stop_reason in (None, "exited")
        error = (
            str(attempt.stop_reason) if not is_ended else attempt.verdict if attempt.verdict not in ACCEPTABLE else ""
        )
        codes = [_clean(str(each.get("code"))) for each in attempt.diagnostics[:_MOST_CODES] if isinstance(each, dict)]
        attributes: dict[str, Value | None] = {
            "gen_ai.agent.name": own.attributes["gen_ai.agent.name"],
            "gen_ai.conversation.id": own.attributes["gen_ai.conversation.id"],
            "error.type": error or None,
            "remit.session": telemetry.row.session_id,
            "remit.attempt": attempt.number,
            "remit.verdict": attempt.verdict,
            "remit.stop_reason": attempt.stop_reason,
            "remit.diagnostics": codes or None,
        }
        yield Span(
            own.trace_id, make_span_id(f"{telemetry.row.session_id}/{attempt.number}"), own.span_id,
            f"attempt {attempt.number}", "internal", begin_ms, last_ms, _drop_unknown(attributes), error or "",
        )  # fmt: skip


def _find_conversation(home: Home, telemetry: RunTelemetry) -> str:
    """Return the harness's session id, which resumed runs share; Remit's own id if the harness has none."""
    kept = (load_text(home, telemetry.row.session_id, "harness") or b"").decode("utf-8", "replace")
    return _clean(kept or telemetry.config.harness_id or telemetry.row.session_id)


def _name_provider(row: Run, config: RunConfig) -> str:
    """Return the provider of the model if the runner implies it; otherwise the name of the runner."""
    kind = config.base or row.runner
    maker, _, model = (config.model or "").partition("/")
    if kind == "opencode" and maker and model:
        return _clean(_MODELS.get(maker, maker))
    return _PROVIDERS.get(kind, _clean(kind) or "remit")


def _sum_usage(row: Run, config: RunConfig, attempts: Sequence[AttemptRow]) -> Usage:
    """Return the tokens of all attempts in each direction. For its own agents a harness reports only the sum."""
    if config.is_harness_run:
        return Usage()
    try:
        counts_thread = get_runner(row.runner, {row.runner: config.base} if config.base else None).counts_thread
    except RunnerError:  # the workspace no longer has this runner
        counts_thread = False
    outputs = [RunOutput(usage=_read_usage(attempt.usage)) for attempt in attempts]
    return sum_usage(outputs, counts_thread=counts_thread)


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    known = {name: usage.get(name) for name in ("input_tokens", "output_tokens")}
    return Usage(**{name: count for name, count in known.items() if type(count) is int and count >= 0})


def _clean(text: str) -> str:
    """Return a text without secrets, then shortened: a key that is cut first wouldn't be found."""
    return redact(text)[:_MOST_LETTERS]


def _drop_unknown(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
