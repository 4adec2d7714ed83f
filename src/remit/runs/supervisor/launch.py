"""Launch an attempt: its command line, environment and ticket.

Owns the way from the terms of a delegation to a shim that runs: the runner's order, its command line, the ticket.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from remit.attempts.confine import Confinement, ReadOnlyPath, find_common_folder
from remit.attempts.confined_calls import NAME
from remit.attempts.folders import find_return_file, make_attempt
from remit.attempts.model_ports import find_model_ports
from remit.attempts.start import ShimOrder, Started, start_shim
from remit.ledger.hook_runs import list_layers
from remit.ledger.runs import begin_attempt
from remit.ledger.slots import set_ticket
from remit.ledger.texts import store_texts
from remit.model import NOTHING
from remit.policy import PathContext, Permissions
from remit.policy.paths import is_below
from remit.policy.protected_paths import GIT_PLACES, list_places
from remit.returns.formats import MANIFEST
from remit.runners import AttemptOrder
from remit.runners.registry import STATE_PLACES
from remit.runs.admission.run_config import fill_values
from remit.runs.admission.tickets import RETURN_FILE, SESSION, SOCKET, TICKET
from remit.runs.admission.trace_context import load_trace, make_trace_environment

if TYPE_CHECKING:
    from remit.confine import Profile
    from remit.runners import Launch
    from remit.runs.supervisor.run_loop import RunLoop


CONFINED = "confined"
"""The text with a sentence for each permission that the kernel enforces differently."""

_PERMISSIONS = Permissions()._asdict()


def start(loop: RunLoop, number: int, message: str | None) -> Started:
    """Start an attempt: with the work, or with a message to an agent that has ended."""
    supervisor, home, session_id = loop.supervisor, loop.home, loop.row.session_id
    environ = supervisor.environ | mint(loop)
    environ |= {"REMIT_ROOT": home.root}
    for name in (RETURN_FILE, SOCKET):  # of an agent above
        environ.pop(name, None)
    if loop.config.confine and not loop.config.afar:
        environ[SOCKET] = f"{loop.find_folder(number)}/{NAME}"
    if loop.config.format != MANIFEST.name:
        environ[RETURN_FILE] = find_return_file(loop.find_folder(number))
    environ |= make_trace_environment(supervisor.environ, loop.row, load_trace(home, loop.row))
    order = make_order(loop, number, environ)._replace(settings=_fill_settings(loop))
    launch = _make_launch(loop, order, message)
    attempt = make_attempt(home, session_id, number)
    # Between its folder and its shim: one that is begun and has no folder has lost it.
    begin_attempt(home.ledger, session_id, number)
    return start_shim(home, attempt, _make_shim_order(loop, launch, environ))


def mint(loop: RunLoop) -> dict[str, str]:
    """A new ticket for the agent; one that an earlier attempt had is no longer good."""
    ticket = loop.supervisor.mint(loop.row)
    set_ticket(loop.home.ledger, loop.row.session_id, ticket.hash)
    return {TICKET: ticket.token, SESSION: loop.row.session_id}


def make_order(loop: RunLoop, number: int, environ: dict[str, str]) -> AttemptOrder:
    """What a runner is told of an attempt."""
    row, config, budget = loop.row, loop.config, loop.remaining_budget.find_left(loop.usage)
    return AttemptOrder(
        row.session_id, row.agent, loop.load_text("prompt"), config.root, loop.find_folder(number),
        loop.load_text("instructions"), config.is_native, config.description, config.model, config.tools,
        budget.max_turns, budget.max_usd, environ, config.settings, tuple(config.words),
        config.temperature, config.max_output_tokens,
    )  # fmt: skip


def _fill_settings(loop: RunLoop) -> dict[str, Any]:
    """What is set for the runner, with the variables that it is started with."""
    now = loop.supervisor.variables.get(loop.row.runner, NOTHING)
    return fill_values(loop.config.settings, now, runner=loop.row.runner)


def _make_launch(loop: RunLoop, order: AttemptOrder, message: str | None) -> Launch:
    runner, harness_id = loop.runner, loop.harness_id
    if message is None:
        is_resumed = bool(loop.config.harness_id)
        return runner.resume(order, harness_id, order.prompt) if is_resumed else runner.start(order)
    if runner.can_resume and harness_id:
        return runner.resume(order, harness_id, message)
    return runner.start(order._replace(prompt=f"{order.prompt}\n\n{message}"))


def _make_shim_order(loop: RunLoop, launch: Launch, environ: dict[str, str]) -> ShimOrder:
    environ = environ | dict(launch.environ)
    confinement = _make_confinement(loop, environ) if loop.config.confine else None
    return ShimOrder(
        launch.argv, loop.config.root, loop.row.deadline_ms or 0, environ, launch.stdin,
        launch.files, confinement=confinement,
    )  # fmt: skip


def _make_confinement(loop: RunLoop, environ: dict[str, str]) -> Confinement:
    """Let the agent write to its folder and the harness to its state, and neither to what decides about agents."""
    from remit.policy.confinement_profile import list_caches  # noqa: PLC0415 - no other run needs it

    root, harness = loop.config.root, loop.config.base or loop.runner.name
    home = environ.get("HOME", "")
    writable = (_expand(each, environ) for each in STATE_PLACES.get(harness, ()))
    places, private = list_places(root, home, harness, environ)
    permitted, new_files = _apply_permissions(loop, home)
    return Confinement(
        root, tuple(filter(None, writable)), tuple(ReadOnlyPath(*place) for place in places),
        tuple(ReadOnlyPath(*place) for place in GIT_PLACES),
        (*private, environ.get("TMPDIR", ""), *list_caches(home, environ, permitted.write)),
        permitted, new_files, loop.config.network,
        find_model_ports(harness, environ) if loop.config.network == "model" else (),
    )  # fmt: skip


def _apply_permissions(loop: RunLoop, home: str) -> tuple[Profile, tuple[str, ...]]:
    """Return what the agent and all its callers may write and read, with the files to make before it starts.

    The sentences about what differs are kept for the result.
    """
    from remit.confine import find_level  # noqa: PLC0415 - no other run needs it
    from remit.policy.confinement_profile import WRITING, judge_harness, list_new_files, make_profile  # noqa: PLC0415

    with loop.home.ledger.reading() as db:
        texts = list_layers(db, loop.row.session_id)
    said = [json.loads(each) for each in texts]
    layers = [Permissions(*(each.get(name, default) for name, default in _PERMISSIONS.items())) for each in said]
    may_write = all(layer.tools is None or {*WRITING} & {*layer.tools} for layer in layers)
    own_git = (find_common_folder(loop.config.root),) if may_write else ()
    ground = PathContext(loop.config.root, loop.config.root, home, os.path.realpath)
    profile, sentences = make_profile(layers, ground, write=(*loop.config.build_places, *own_git))
    profile = judge_harness(profile, sentences, is_judged=loop.config.judges and find_level().has_judge)
    own = os.path.realpath(f"{loop.home.root}/.remit")
    if any(is_below(own, each) for each in profile.hide):  # the files that the runner starts the agent with
        profile = profile._replace(hide=tuple(each for each in profile.hide if not is_below(own, each)))
        sentences.append("deny read: the agent needs its files in '.remit', so what contains them isn't hidden")
    store_texts(loop.home, loop.row.session_id, {CONFINED: "\n".join(sentences).encode()}, durable=False)
    return profile, tuple(sorted(list_new_files(layers, ground).intersection(profile.write)))


def _expand(place: str, environ: dict[str, str]) -> str:
    """A place in the user's home, or one that a variable names."""
    if place.startswith("$"):
        return environ.get(place[1:], "")
    return place.replace("~", environ.get("HOME", "~"), 1)
