"""Telemetry with a real receiver: one trace for a tree of processes, every run is sent, and no command fails for it."""

from __future__ import annotations

import json
import shlex
import socket
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TYPE_CHECKING

import pytest

from remit import cli
from remit.ledger.followers import PAGE
from remit.ledger.home import Home
from remit.ledger.runs import AttemptRow, Run, add_run, advance, record_attempt
from remit.ledger.texts import store_texts
from remit.runs.admission.run_config import RunConfig
from remit.runs.admission.trace_context import ENDPOINTS, make_span_id, parse_traceparent
from remit.telemetry import export
from remit.testing.agent import ScriptedAgent
from tests.support.otlp_receiver import Receiver
from tests.support.program_runs import list_rows
from tests.support.secret_samples import NAMED, STARTS
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.commands import Ended, Inside, Remit

REMIT = f"{sys.executable} -m remit"
GIVEN = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
CLIENT, INTERNAL, ERROR = 3, 1, 2
DELTA = 1
WORK = "Look at the purple-elephant ledger."
FREE = dict.fromkeys((*ENDPOINTS, "TRACEPARENT", "TRACESTATE", "OTEL_SDK_DISABLED"), "")
NUMBERS = count()
PATIENT = """
import sys
from remit.telemetry import export
export.SEND_SECONDS = 60.0
from remit.cli import main, run
"""
"""A machine that is busy takes longer to load what sends than a person would wait for it."""
CRASH = f"""{PATIENT}
import os
import remit.ledger.followers as followers
followers.finish_batch = lambda *_: os._exit(137)
run(sys.argv[1:])
"""
LOADED = """
import sys
from remit.cli import run
code = run(sys.argv[1:])
print(code, sorted(name for name in sys.modules if name.partition(".")[0] in ("opentelemetry", "requests")
                   or name in ("remit.telemetry.export", "remit.telemetry.spans")))
"""


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as found:
        yield found


@pytest.fixture
def sending(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Receiver:
    """A receiver that this process sends to."""
    for name, value in (FREE | receiver.environ).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(export, "SEND_SECONDS", 60.0)
    return receiver


def delegate(remit: Remit, command: str = "true", *options: str, **environ: str) -> Ended:
    patient = ("-c", f"{PATIENT}\nmain()")
    return remit("run", WORK, "--command", command, *options, prelude=patient, env=FREE | environ)


def settle(folder: Path, many: int = 1, *, agent: str = "scout", config: RunConfig | None = None) -> list[str]:
    """Delegations that are over, as the ledger has them."""
    home = Home(str(folder))
    made = []
    for _ in range(many):
        begun_ms = time.time_ns() // 1_000_000
        session_id = f"sess_{begun_ms // 1000}_{next(NUMBERS):06d}"
        row = Run(
            session_id, agent, 1, ("orchestrator", agent), created_ms=begun_ms - 1500, runner="claude",
            details=(config or RunConfig()).as_details(),
        )  # fmt: skip
        add_run(home.ledger, row)
        with home.ledger.transaction() as db:
            tried = AttemptRow(
                1, begun_ms - 1000, begun_ms, "exited", "accepted", "answer-1", [{"code": "RET001"}],
                {"input_tokens": 100, "output_tokens": 20, "turns": 2, "cost_usd": 0.25},
            )  # fmt: skip
            advance(db, session_id, "running", started_ms=begun_ms - 1000)
            record_attempt(db, session_id, tried)
            advance(
                db, session_id, "finishing", ended_ms=begun_ms, stop_reason="exited", verdict="accepted",
                status="completed", tokens=120, cost_usd=0.25, turns=2,
            )  # fmt: skip
            advance(db, session_id, "finished")
        made.append(session_id)
    home.close()
    return made


# --- what is told ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.thorough
def test_a_tree_of_processes_is_one_trace(remit: Remit, receiver: Receiver, tmp_path: Path) -> None:
    """Whoever is started hears where it belongs, and all of it is sent once, by the command that a person gave."""
    command = f"sh -c {shlex.quote('echo $TRACEPARENT > 3.txt')}"
    for level in (2, 1):
        inner = f"echo $TRACEPARENT > {level}.txt; {REMIT} run go --command {shlex.quote(command)}"
        command = f"sh -c {shlex.quote(inner)}"
    ended = delegate(remit, command, **receiver.environ)
    assert ended.err.count(b"telemetry") == 0, ended.err
    rows = {row.depth: row for row in list_rows(tmp_path)}
    spans = {span.span_id: span for span in receiver.spans}
    agents = [spans[make_span_id(rows[depth].session_id)] for depth in (1, 2, 3)]
    (run,) = [span for span in spans.values() if span.name.startswith("invoke_workflow")]

    assert len({span.trace_id for span in spans.values()}) == 1
    assert [span.parent_id for span in (run, *agents)] == ["", run.span_id, *(span.span_id for span in agents[:2])]
    assert [span.attributes["remit.depth"] for span in agents] == [1, 2, 3]
    assert agents[2].attributes["remit.path"] == list(rows[3].path)
    assert run.attributes["remit.runs"] == 3
    for level, span in enumerate(agents, 1):
        told = parse_traceparent((tmp_path / f"{level}.txt").read_text())
        assert told == (span.trace_id, span.span_id, True)
        assert run.begin_ns <= span.begin_ns <= span.end_ns <= run.end_ns
    attempts = [span for span in spans.values() if span.name == "attempt 1"]
    assert sorted(span.parent_id for span in attempts) == sorted(span.span_id for span in agents)
    assert [each.path for each in receiver.got] == ["/v1/traces", "/v1/metrics"]  # an agent sends nothing itself


def test_the_trace_of_whoever_asks_goes_on(remit: Remit, receiver: Receiver, tmp_path: Path) -> None:
    script = f"sh -c {shlex.quote('echo $TRACEPARENT $TRACESTATE > seen.txt')}"
    delegate(remit, script, TRACEPARENT=GIVEN, TRACESTATE="vendor=1", **receiver.environ)
    (span,) = [span for span in receiver.spans if span.name.startswith("invoke_agent")]
    assert (span.trace_id, span.parent_id) == tuple(GIVEN.split("-")[1:3])
    assert (tmp_path / "seen.txt").read_text() == f"00-{span.trace_id}-{span.span_id}-01 vendor=1\n"


@pytest.mark.thorough
def test_a_trace_is_handed_on_also_where_nothing_is_sent(remit: Remit, tmp_path: Path) -> None:
    script = f"sh -c {shlex.quote('echo ${TRACEPARENT:-none} > seen.txt')}"
    delegate(remit, script, TRACEPARENT=GIVEN)
    assert (tmp_path / "seen.txt").read_text().startswith(GIVEN[:36])
    delegate(remit, script)
    assert (tmp_path / "seen.txt").read_text() == "none\n"


def test_who_is_not_sampled_is_counted_only(remit: Remit, receiver: Receiver) -> None:
    delegate(remit, TRACEPARENT=f"{GIVEN[:-2]}00", **receiver.environ)
    assert receiver.spans == []
    assert receiver.list_points("remit.runs")


def test_what_is_told_of_a_delegation_that_went_well(sending: Receiver, tmp_path: Path, inside: Inside) -> None:
    begun_ms = time.time_ns() // 1_000_000
    (session_id,) = settle(tmp_path, config=RunConfig(work=WORK, model="some-model", command="plan"))
    home = Home(str(tmp_path))
    store_texts(home, session_id, {"harness": b"0f0e0d", "prompt": WORK.encode(), "answer-1": WORK.encode()})
    home.close()
    assert inside is not None  # it stands in the folder
    assert export.send(begun_ms) == ""

    run, agent, attempt = sending.spans
    assert (agent.name, agent.kind, agent.status) == ("invoke_agent scout", CLIENT, 0)
    assert agent.attributes == {
        "gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "anthropic", "gen_ai.agent.name": "scout",
        "gen_ai.agent.id": session_id, "gen_ai.conversation.id": "0f0e0d", "gen_ai.request.model": "some-model",
        "gen_ai.usage.input_tokens": 100, "gen_ai.usage.output_tokens": 20, "remit.session": session_id,
        "remit.root": session_id, "remit.runner": "claude", "remit.depth": 1, "remit.path": ["orchestrator", "scout"],
        "remit.status": "completed", "remit.verdict": "accepted", "remit.stop_reason": "exited", "remit.attempts": 1,
        "remit.turns": 2, "remit.tokens": 120, "remit.cost_usd": 0.25, "remit.timeout_s": 3600,
    }  # fmt: skip
    assert (run.name, run.kind) == ("invoke_workflow plan", INTERNAL)
    assert run.attributes["gen_ai.workflow.name"] == "plan"
    assert attempt.attributes["remit.diagnostics"] == ["RET001"]
    assert agent.end_ns - agent.begin_ns == 1_500_000_000
    assert all(b"purple" not in each.data for each in sending.got)  # what was asked and answered stays here
    assert all(str(tmp_path).encode() not in each.data for each in sending.got)


@pytest.mark.slow
@pytest.mark.thorough("rambles", "crashes")
@pytest.mark.parametrize(
    ("script", "error"),
    [("lies", "fabricated"), ("rambles", "missing"), ("crashes", "crashed"), ("hangs", "timeout")],
)
def test_what_did_not_hold_is_an_error(
    remit: Remit, receiver: Receiver, tmp_path: Path, script: str, error: str
) -> None:
    agent = ScriptedAgent(tmp_path.parent / f"{tmp_path.name}-agents")
    getattr(agent, script)()
    timeout = ("--timeout", "1") if script == "hangs" else ()
    ended = delegate(remit, agent.command, *timeout, **receiver.environ)
    assert ended.code == 1
    (span,) = [span for span in receiver.spans if span.name.startswith("invoke_agent")]
    assert (span.status, span.message, span.attributes["error.type"]) == (ERROR, error, error)
    ((attributes, point),) = receiver.list_points("remit.runs")
    assert (attributes["error.type"], point.as_int) == (error, 1)


def test_numbers_are_what_was_added_since_the_last_time(sending: Receiver, tmp_path: Path, inside: Inside) -> None:
    assert inside is not None
    begun_ms = time.time_ns() // 1_000_000 - 1
    settle(tmp_path, 3)
    assert export.send(begun_ms) == ""
    ((attributes, point),) = sending.list_points("remit.runs")
    assert attributes == {
        "gen_ai.agent.name": "scout", "remit.verdict": "accepted", "remit.status": "completed",
    }  # fmt: skip
    assert point.as_int == 3
    ((verdict, count),) = sending.list_points("remit.verdicts")
    assert (verdict["remit.verdict"], count.as_int) == ("accepted", 3)
    ((_, cost),) = sending.list_points("remit.cost")
    assert cost.as_double == 0.75
    tokens = {each["gen_ai.token.type"]: point for each, point in sending.list_points("gen_ai.client.token.usage")}
    assert {kind: (each.count, each.sum) for kind, each in tokens.items()} == {"input": (3, 300), "output": (3, 60)}
    ((_, duration),) = sending.list_points("remit.duration")
    assert (duration.count, duration.sum, list(duration.bucket_counts)[:3]) == (3, 4.5, [0, 3, 0])
    temporalities = {each.sum.aggregation_temporality or each.histogram.aggregation_temporality
                     for each in sending.metrics}  # fmt: skip
    assert temporalities == {DELTA}

    time.sleep(0.002)
    home = Home(str(tmp_path))
    row = Run("sess_1_zzzzzz", "scout", 1, ("orchestrator", "scout"))
    add_run(home.ledger, row)
    with home.ledger.transaction() as db:
        advance(db, row.session_id, "finished", ended_ms=time.time_ns() // 1_000_000, stop_reason="cancelled")
    home.close()
    assert export.send(begun_ms) == ""
    *_, (attributes, later) = sending.list_points("remit.runs")
    assert (attributes["remit.verdict"], attributes["error.type"], later.as_int) == ("none", "cancelled", 1)
    assert point.start_time_unix_nano < point.time_unix_nano == later.start_time_unix_nano < later.time_unix_nano


def test_no_secret_is_sent(sending: Receiver, tmp_path: Path, inside: Inside) -> None:
    """In whatever a person, an agent or a repository may have put one."""
    assert inside is not None
    secrets = {name: (begin + rest, rest) for name, (begin, rest) in STARTS.items()} | NAMED
    home, begun_ms = Home(str(tmp_path)), time.time_ns() // 1_000_000 - 1
    for number, (text, _) in enumerate(secrets.values()):
        config = RunConfig(work=text, model=text, command=text, base=text, batch=text, harness_id=text, resume_of=text,
                      retry_of=text, description=text)  # fmt: skip
        session_id = f"sess_1_{number:06d}"
        row = Run(session_id, text, 1, ("orchestrator", text), runner=text, details=config.as_details())
        add_run(home.ledger, row)
        with home.ledger.transaction() as db:
            tried = AttemptRow(1, 1, 2, "exited", "invalid", "answer-1", [{"code": text, "message": text}])
            record_attempt(db, session_id, tried)
            advance(
                db, session_id, "finished", ended_ms=time.time_ns() // 1_000_000, stop_reason="exited", status="failed"
            )
        store_texts(home, session_id, {"harness": text.encode()})
    home.close()
    assert export.send(begun_ms) == ""
    assert len([span for span in sending.spans if span.name.startswith("invoke_agent")]) == len(secrets) >= 40
    sent = b"".join(each.data for each in sending.got)
    assert sent.count(b"[redacted") > 10 * len(secrets)
    leaked = [name for name, (_, secret) in secrets.items() if secret.encode() in sent]
    assert not leaked


# --- at least once ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_delegation_is_sent_once(remit: Remit, receiver: Receiver) -> None:
    for _ in range(3):
        delegate(remit, **receiver.environ)
    ids = [span.span_id for span in receiver.spans]
    assert len(ids) == len(set(ids)) == 6
    assert len({tuple(sorted(each.items())) for each in receiver.resources}) == 1


@pytest.mark.slow
@pytest.mark.thorough
def test_who_dies_before_it_has_noted_what_was_taken_sends_the_same_again(remit: Remit, receiver: Receiver) -> None:
    delegate(remit, **receiver.environ)
    script = ("run", WORK, "--command", "true")
    killed = remit(*script, prelude=("-c", CRASH), env=FREE | receiver.environ)
    assert killed.code == 137
    assert len(receiver.list_messages("/v1/traces")) == 2
    delegate(remit, **receiver.environ)
    _, first, again, last = receiver.list_messages("/v1/traces")
    assert first == again
    ids = [span.span_id for span in receiver.spans]
    assert (len(ids), len(set(ids))) == (8, 6)
    assert last not in (first, again)


def test_what_was_not_taken_is_sent_by_the_next_command(remit: Remit, receiver: Receiver) -> None:
    receiver.status = 500
    ended = delegate(remit, **receiver.environ)
    assert b"telemetry: " in ended.err
    assert b"answered 500; unsent data stays" in ended.err
    assert ended.err.count(b"telemetry: ") == 1
    first = receiver.spans
    receiver.status = 200
    assert b"telemetry" not in delegate(remit, **receiver.environ).err
    assert {span.span_id for span in first} < {span.span_id for span in receiver.spans}
    names = [each.as_int for _, each in receiver.list_points("remit.runs")]
    assert names == [1, 1, 1]  # tried, sent in the same words, and the second one


@pytest.mark.thorough
def test_to_be_sent_elsewhere_is_not_to_be_taken(remit: Remit, receiver: Receiver) -> None:
    receiver.status = 302
    assert b"answered 302" in delegate(remit, **receiver.environ).err


@pytest.mark.thorough("413")
@pytest.mark.parametrize("status", [400, 413])
def test_what_is_never_taken_does_not_stand_in_the_way(remit: Remit, receiver: Receiver, status: int) -> None:
    receiver.status = status
    assert b"it will never accept this data" in delegate(remit, **receiver.environ).err
    receiver.status = 200
    delegate(remit, **receiver.environ)
    one, other = receiver.list_messages("/v1/traces")
    assert one != other
    assert len(receiver.spans) == 4


def test_who_takes_only_one_kind_is_sent_the_other_no_more_often(
    sending: Receiver, tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind has a cursor of its own."""
    assert inside is not None
    begun_ms = time.time_ns() // 1_000_000 - 1
    settle(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}/v1/metrics"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", nowhere)
    for _ in range(2):
        assert "can't be reached" in export.send(begun_ms)
    assert [each.path for each in sending.got] == ["/v1/traces"]
    monkeypatch.setenv("OTEL_METRICS_EXPORTER", "none")
    assert export.send(begun_ms) == ""
    monkeypatch.delenv("OTEL_METRICS_EXPORTER")
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")
    assert export.send(begun_ms) == ""
    assert [each.path for each in sending.got] == ["/v1/traces", "/v1/metrics"]


@pytest.mark.thorough
def test_many_are_sent_page_by_page(sending: Receiver, tmp_path: Path, inside: Inside) -> None:
    assert inside is not None
    begun_ms = time.time_ns() // 1_000_000 - 1
    made = settle(tmp_path, 2 * PAGE + 5)
    wait_until(lambda: export.send(begun_ms) == "" and len(sending.spans) == 2 * len(made), "all")
    assert len({span.span_id for span in sending.spans}) == 2 * len(made)
    assert len(sending.list_messages("/v1/traces")) == 3


def test_several_at_once_send_each_once(sending: Receiver, tmp_path: Path, inside: Inside) -> None:
    assert inside is not None
    begun_ms = time.time_ns() // 1_000_000 - 1
    made = settle(tmp_path, 30)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(export.send, [begun_ms] * 8)) == {""}
    assert len(sending.spans) == 2 * len(made)
    assert sum(point.as_int for _, point in sending.list_points("remit.runs")) == len(made)


@pytest.mark.thorough
def test_what_was_settled_before_anybody_asked_is_not_sent(remit: Remit, receiver: Receiver) -> None:
    delegate(remit)
    delegate(remit, **receiver.environ)
    assert len([span for span in receiver.spans if span.name.startswith("invoke_agent")]) == 1


def test_a_server_sends_while_it_serves(
    sending: Receiver, tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert inside is not None
    monkeypatch.setattr(export, "_INTERVAL_S", 0.05)
    said: list[str] = []

    def serve(_: list[str]) -> int:
        settle(tmp_path)
        wait_until(lambda: len(sending.spans) == 2, "the first one")
        sending.status = 500
        settle(tmp_path, agent="other")
        wait_until(lambda: said, "a word of it")
        sending.status = 200
        return 7

    assert export.run_and_send(["mcp"], serve, said.append) == 7
    assert len({span.span_id for span in sending.spans}) == 4
    assert len(said) == 1


# --- no command is harmed --------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.thorough("hangs")
@pytest.mark.parametrize("how", ["hangs", "drips"])
def test_a_slow_receiver_costs_two_seconds_at_most(
    sending: Receiver, tmp_path: Path, inside: Inside, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    assert inside is not None
    monkeypatch.setattr(export, "SEND_SECONDS", 2.0)
    begun_ms = time.time_ns() // 1_000_000 - 1
    settle(tmp_path)
    setattr(sending, how, True)
    began = time.monotonic()
    told = export.send(begun_ms)
    assert time.monotonic() - began < 8  # and not for ever, on a machine that is busy, too
    assert told.endswith("; unsent data stays for the next command")
    assert sending.got


@pytest.mark.slow
@pytest.mark.thorough
@pytest.mark.parametrize("how", ["hangs", "drips"])
def test_a_command_ends_as_it_would_have_without(remit: Remit, receiver: Receiver, how: str) -> None:
    setattr(receiver, how, True)
    args = ("run", WORK, "--command", "true")
    ended = remit(*args, env=FREE | receiver.environ)
    assert ended.code == remit(*args, env=FREE).code == 1
    assert ended.err.count(b"; unsent data stays for the next command") == 1
    setattr(receiver, how, False)
    sent = len(receiver.spans)
    assert b"telemetry" not in delegate(remit, **receiver.environ).err
    assert len([span for span in receiver.spans[sent:] if span.name.startswith("invoke_agent")]) == 3


@pytest.mark.thorough
def test_nobody_at_the_other_end(remit: Remit, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = f"http://ada:geheim@127.0.0.1:{port}/secret-place?key=value"
    plain = delegate(remit, "true", "--json")
    began = time.monotonic()
    ended = delegate(remit, "true", "--json", OTEL_EXPORTER_OTLP_ENDPOINT=url)
    assert time.monotonic() - began < 60  # it does not wait for ever; on a machine that is busy all takes long
    assert ended.code == plain.code == 1
    assert json.loads(ended.out)["status"] == json.loads(plain.out)["status"]
    name = f"http://127.0.0.1:{port}"
    said = f"telemetry: {name} can't be reached; unsent data stays for the next command"
    assert json.loads(ended.err) == {"note": said}
    assert f"note: {said}\n" in delegate(remit, OTEL_EXPORTER_OTLP_ENDPOINT=url).err.decode()
    assert len(list_rows(tmp_path)) == 3


def test_what_a_receiver_says_besides_is_not_waited_for(sending: Receiver, tmp_path: Path, inside: Inside) -> None:
    assert inside is not None
    begun_ms = time.time_ns() // 1_000_000 - 1
    settle(tmp_path)
    sending.babbles = True
    assert export.send(begun_ms) == ""
    assert [each.path for each in sending.got] == ["/v1/traces", "/v1/metrics"]


def test_a_folder_that_is_gone_is_told_once(remit: Remit, receiver: Receiver) -> None:
    ended = remit("run", "x", env=FREE | receiver.environ | {"REMIT_ROOT": "/nowhere"})
    assert "REMIT_ROOT" in ended.complaint


@pytest.mark.thorough("localhost", "127.0.0.1")
@pytest.mark.parametrize("url", ["localhost:4318", "http://[", "ftp://127.0.0.1", "http://", "\x01", "127.0.0.1"])
def test_an_address_that_is_none(remit: Remit, url: str) -> None:
    ended = delegate(remit, OTEL_EXPORTER_OTLP_ENDPOINT=url)
    assert ended.code == 1
    assert ended.err.count(b"note: telemetry: ") == 1
    assert b"Traceback" not in ended.err


def test_another_protocol_is_told_once_a_day(remit: Remit, receiver: Receiver) -> None:
    environ = receiver.environ | {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}
    assert b"OTEL_EXPORTER_OTLP_PROTOCOL" in delegate(remit, **environ).err
    assert b"telemetry" not in delegate(remit, **environ).err
    assert receiver.got == []


@pytest.mark.slow
@pytest.mark.thorough
def test_a_missing_extra_is_told_once_a_day(remit: Remit, receiver: Receiver, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden" / "opentelemetry"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError('it is not there')\n")
    without = {**receiver.environ, "PYTHONPATH": f"{hidden.parent}:{remit.env['PYTHONPATH']}"}
    plain = delegate(remit)
    first, second = delegate(remit, **without), delegate(remit, **without)
    assert first.code == second.code == plain.code
    assert first.err.count(b"pip install '.[otel]'") == first.err.count(b"telemetry: ") == 1
    assert b"telemetry" not in second.err
    assert receiver.got == []
    delegate(remit, **receiver.environ)  # and once it is there, nothing is lost
    assert len([span for span in receiver.spans if span.name.startswith("invoke_agent")]) == 3


@pytest.mark.parametrize(
    "environ", [{}, {"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1]:9"}]
)
def test_nothing_is_loaded_where_nothing_is_sent(remit: Remit, environ: dict[str, str]) -> None:
    args = ("run", WORK, "--command", "true", "--json")
    clean = {name: value for name, value in remit.env.items() if name not in ENDPOINTS}
    remit.env = clean
    ended = remit(*args, prelude=("-c", LOADED), env=environ)
    modules = ["remit.telemetry.export"] if environ else []
    assert ended.text.splitlines()[-1] == f"1 {modules}"
    assert b"telemetry" not in ended.err


@pytest.mark.thorough
def test_nothing_is_loaded_where_nothing_was_settled(remit: Remit, receiver: Receiver) -> None:
    delegate(remit, **receiver.environ)
    sent = len(receiver.got)
    for args in (("wait", "-", "--json"), ("ps", "--all", "--json")):
        ended = remit(*args, prelude=("-c", LOADED), env=FREE | receiver.environ)
        assert "opentelemetry" not in ended.text.splitlines()[-1]
    assert len(receiver.got) == sent


@pytest.mark.slow
def test_no_agent_chooses_where_anything_is_sent(remit: Remit, receiver: Receiver, tmp_path: Path) -> None:
    """Nor does a repository, whose settings may say what is in an agent's environment."""
    inner = f"OTEL_EXPORTER_OTLP_ENDPOINT={receiver.url} {REMIT} run go --command true"
    delegate(remit, f"sh -c {shlex.quote(inner)}")
    assert [row.depth for row in list_rows(tmp_path)] == [2, 1]
    assert receiver.got == []


@pytest.mark.slow
@pytest.mark.thorough
def test_what_the_sdk_reads_from_the_environment_counts(remit: Remit, receiver: Receiver) -> None:
    delegate(
        remit,
        OTEL_EXPORTER_OTLP_HEADERS="x-team=blue", OTEL_EXPORTER_OTLP_COMPRESSION="gzip", OTEL_SERVICE_NAME="ours",
        OTEL_RESOURCE_ATTRIBUTES="deployment.environment.name=test", **receiver.environ,
    )  # fmt: skip
    assert {each.headers["x-team"] for each in receiver.got} == {"blue"}
    assert {each.headers["Content-Encoding"] for each in receiver.got} == {"gzip"}
    (resource,) = receiver.resources
    assert (resource["service.name"], resource["deployment.environment.name"]) == ("ours", "test")


def test_the_command_line_knows_the_same_variables() -> None:
    """It imports nothing to look at them."""
    assert cli.ENDPOINTS == ENDPOINTS


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["run", "x"], True), (["implement", "3"], True), (["wait", "-"], True), (["cancel", "-"], True),
        (["resume", "-"], True), (["retry", "-"], True), (["drive", "sess_1_aaaaaa"], True), (["mcp"], True),
        (["serve"], True), (["task", "audit", "3"], True), (["task", "list"], False), (["ps"], False), (["lint"], False), (["hook", "x"], False),
        (["--version"], False), ([], False),
    ],
)  # fmt: skip
def test_who_touches_delegations_sends(
    args: list[str], expected: bool, sending: Receiver, tmp_path: Path, inside: Inside  # noqa: FBT001 - a table
) -> None:  # fmt: skip
    """A command of the workspace's own is one that works on a task."""
    assert inside is not None

    def run(_: list[str]) -> int:
        settle(tmp_path)
        return 0

    assert export.run_and_send(args, run, print) == 0
    assert bool(sending.spans) is expected
