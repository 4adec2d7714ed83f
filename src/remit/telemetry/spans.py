"""Tracing: a finished run as spans of a trace.

Attributes have the names of OpenTelemetry's conventions for generative AI, and `remit.` for all others. They contain no
prompt, answer or file name, and no secrets. The same run always gives the same spans, ids and times.
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
"""What opencode calls providers that the conventions call otherwise."""
_MOST_CODES = 20
_MOST_LETTERS = 200


class Span(NamedTuple):
    """One span. Ids are hexadecimal, as W3C has them."""

    trace_id: str
    span_id: str
    parent_id: str
    """Empty where the trace begins with it."""
    name: str
    kind: str
    """client or internal."""
    begin_ms: int
    end_ms: int
    attributes: Mapping[str, Value]
    error: str = ""
    """What kind of error it ended with."""


class RunTelemetry(NamedTuple):
    """A delegation that is over, and what is told of it."""

    row: Run
    config: RunConfig
    attempts: tuple[AttemptRow, ...]
    usage: Usage
    ended_ms: int
    common: Mapping[str, Value] = NOTHING
    """The attributes that its spans and its numbers share."""

    @property
    def error(self) -> str:
        """What kind of error it ended with; empty where none."""
        row = self.row
        if row.stop_reason not in (None, "exited"):
            return str(row.stop_reason)
        if row.verdict is not None and row.verdict not in ACCEPTABLE:
            return row.verdict
        return "failed" if row.status == "failed" else ""


def load_run_telemetry(home: Home, finished: FinishedEvent) -> RunTelemetry | None:
    """Return what is told of a delegation that was settled; None where the ledger has forgotten it."""
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
    return RunTelemetry(row, config, attempts, _add_up(row, config, attempts), row.ended_ms or finished.at_ms, common)


def list_spans(home: Home, told: RunTelemetry) -> list[Span]:
    """Return the spans of a delegation: itself, its attempts, and the run where it is the first of one."""
    row = told.row
    context = find_context(row.root_id, load_trace(home, row))
    if not context.is_sampled:  # whoever is in the trace keeps nothing of it
        return []
    run = _describe_run(home, told, context)
    parent_id = make_span_id(row.parent_id) if row.parent_id else context.span_id if run is None else run.span_id
    own = Span(
        context.trace_id, make_span_id(row.session_id), parent_id, f"invoke_agent {_clean(row.agent)}",
        "internal" if told.config.is_harness_run or told.config.settings.get("in_process") else "client",
        row.created_ms, max(told.ended_ms, row.created_ms), _describe(home, told), told.error,
    )  # fmt: skip
    return [*([] if run is None else [run]), own, *_describe_attempts(told, own)]


def _describe(home: Home, told: RunTelemetry) -> dict[str, Value]:
    row, usage = told.row, told.usage
    attributes: dict[str, Value | None] = {
        **told.common,
        "gen_ai.agent.id": row.session_id,
        "gen_ai.conversation.id": _find_conversation(home, told),
        "gen_ai.request.model": _clean(told.config.model or "") or None,
        "gen_ai.usage.input_tokens": usage.input_tokens,
        "gen_ai.usage.output_tokens": usage.output_tokens,
        "error.type": told.error or None,
        "remit.session": row.session_id,
        "remit.root": row.root_id,
        "remit.runner": _clean(row.runner) or None,
        "remit.depth": row.depth,
        "remit.path": [_clean(each) for each in row.path],
        "remit.status": row.status,
        "remit.verdict": row.verdict,
        "remit.stop_reason": row.stop_reason,
        "remit.attempts": len(told.attempts),
        "remit.task": row.task_number,
        "remit.turns": row.turns,
        "remit.tokens": row.tokens,
        "remit.cost_usd": row.cost_usd,
        "remit.timeout_s": told.config.timeout_s,
        "remit.harness_run": told.config.is_harness_run or None,
        "remit.resume_of": _clean(told.config.resume_of) or None,
        "remit.retry_of": _clean(told.config.retry_of) or None,
    }
    return _drop_unknown(attributes)


def _describe_run(home: Home, told: RunTelemetry, context: TraceContext) -> Span | None:
    """Return the run that a delegation is the first of: where it handed work on, or is a command on a task."""
    row, command = told.row, told.config.command
    if row.parent_id is not None:
        return None
    count, ended_ms = measure_tree(home.ledger, row.root_id)
    if count < 2 and not command:  # noqa: PLR2004 - one alone is no run
        return None
    name = _clean(command or row.agent)
    attributes: dict[str, Value | None] = {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": name,
        "error.type": told.error or None,
        "remit.root": row.root_id,
        "remit.delegations": count,
        "remit.status": row.status,
        "remit.task": row.task_number,
    }
    return Span(
        context.trace_id, make_span_id(f"{row.root_id}/run"), context.span_id, f"invoke_workflow {name}", "internal",
        row.created_ms, max(ended_ms, told.ended_ms, row.created_ms), _drop_unknown(attributes), told.error,
    )  # fmt: skip


def _describe_attempts(told: RunTelemetry, own: Span) -> Iterator[Span]:
    last_ms = own.begin_ms
    for attempt in told.attempts:
        # What a harness's own agent has tried is heard of when it is over.
        begin_ms = last_ms if told.config.is_harness_run else max(attempt.started_ms, own.begin_ms)
        last_ms = max(attempt.ended_ms or told.ended_ms, begin_ms)
        is_ended = attempt.stop_reason in (None, "exited")
        error = (
            str(attempt.stop_reason) if not is_ended else attempt.verdict if attempt.verdict not in ACCEPTABLE else ""
        )
        codes = [_clean(str(each.get("code"))) for each in attempt.diagnostics[:_MOST_CODES] if isinstance(each, dict)]
        attributes: dict[str, Value | None] = {
            "gen_ai.agent.name": own.attributes["gen_ai.agent.name"],
            "gen_ai.conversation.id": own.attributes["gen_ai.conversation.id"],
            "error.type": error or None,
            "remit.session": told.row.session_id,
            "remit.attempt": attempt.number,
            "remit.verdict": attempt.verdict,
            "remit.stop_reason": attempt.stop_reason,
            "remit.findings": codes or None,
        }
        yield Span(
            own.trace_id, make_span_id(f"{told.row.session_id}/{attempt.number}"), own.span_id,
            f"attempt {attempt.number}", "internal", begin_ms, last_ms, _drop_unknown(attributes), error or "",
        )  # fmt: skip


def _find_conversation(home: Home, told: RunTelemetry) -> str:
    """Return what the harness calls its session: by it, whoever goes on with an agent is seen to; else what we call it."""
    kept = (load_text(home, told.row.session_id, "harness") or b"").decode("utf-8", "replace")
    return _clean(kept or told.config.harness_id or told.row.session_id)


def _name_provider(row: Run, config: RunConfig) -> str:
    """Whose model it is, as far as the runner tells; else what the runner is called."""
    kind = config.base or row.runner
    maker, _, model = (config.model or "").partition("/")
    if kind == "opencode" and maker and model:
        return _clean(_MODELS.get(maker, maker))
    return _PROVIDERS.get(kind, _clean(kind) or "remit")


def _add_up(row: Run, config: RunConfig, attempts: Sequence[AttemptRow]) -> Usage:
    """Return what all attempts used in each direction; a harness tells of its own agents only the sum."""
    if config.is_harness_run:
        return Usage()
    try:
        counts_thread = get_runner(row.runner, {row.runner: config.base} if config.base else None).counts_thread
    except RunnerError:  # one that the workspace does not have any more
        counts_thread = False
    heards = [RunOutput(usage=_read_usage(attempt.usage)) for attempt in attempts]
    return sum_usage(heards, counts_thread=counts_thread)


def _read_usage(usage: Mapping[str, Any]) -> Usage:
    known = {name: usage.get(name) for name in ("input_tokens", "output_tokens")}
    return Usage(**{name: count for name, count in known.items() if type(count) is int and count >= 0})


def _clean(text: str) -> str:
    """Return a text without secrets, and not longer than a name is; in this order: half a key is not known for one."""
    return redact(text)[:_MOST_LETTERS]


def _drop_unknown(attributes: Mapping[str, Value | None]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value is not None}
