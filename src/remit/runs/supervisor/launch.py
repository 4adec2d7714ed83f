"""Launch an attempt: the runner's order, command line, environment, ticket and confinement, up to a running shim."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from remit.attempts.confine import Confinement, ReadOnlyPath, find_common_folder
from remit.attempts.confined_calls import NAME
from remit.attempts.folders import find_folder, find_return_file, make_attempt
from remit.attempts.model_ports import find_model_ports
from remit.attempts.start import ShimOrder, Started, start_shim
from remit.ledger.hook_runs import list_layers
from remit.ledger.runs import begin_attempt
from remit.ledger.slots import set_ticket
from remit.ledger.texts import load_text, store_texts
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
    from collections.abc import Mapping

    from remit.confine import Profile
    from remit.ledger.home import Home
    from remit.ledger.runs import Run
    from remit.runners import Launch, Runner
    from remit.runs.admission.limits import Budget
    from remit.runs.admission.run_config import RunConfig
    from remit.runs.supervisor.supervisor import Supervisor

CONFINED = "confined"
"""The text with a sentence for each permission that the kernel enforces differently."""

_PERMISSIONS = Permissions()._asdict()


def start(
    supervisor: Supervisor, run: Run, config: RunConfig, *, number: int, budget: Budget, message: str | None,
    harness_id: str,
) -> Started:  # fmt: skip
    """Start an attempt: with the prompt, or with a message to an agent that has ended."""
    home, runner = supervisor.home, supervisor.get_runner(run.runner, config.base)
    folder = find_folder(home, run.session_id, number)
    environ = supervisor.environ | issue_ticket(supervisor, run) | {"REMIT_ROOT": home.root}
    for name in (RETURN_FILE, SOCKET):  # those of a caller
        environ.pop(name, None)
    if config.confine and not config.remote:
        environ[SOCKET] = f"{folder}/{NAME}"
    if config.format != MANIFEST.name:
        environ[RETURN_FILE] = find_return_file(folder)
    environ |= make_trace_environment(supervisor.environ, run, load_trace(home, run))
    order = make_order(home, run, config, number=number, budget=budget, environ=environ)
    order = order._replace(
        settings=fill_values(config.settings, supervisor.variables.get(run.runner, NOTHING), runner=run.runner)
    )
    launch = _make_launch(runner, config, order, message, harness_id)
    attempt = make_attempt(home, run.session_id, number)
    # After the folder exists and before the shim starts: a recorded attempt without a folder has lost its folder.
    begin_attempt(home.ledger, run.session_id, number)
    environ = environ | dict(launch.environ)
    confinement = make_confinement(home, run, config, runner, environ) if config.confine else None
    shim_order = ShimOrder(
        launch.argv, config.root, run.deadline_ms or 0, environ, launch.stdin, launch.files, confinement=confinement
    )
    return start_shim(home, attempt, shim_order)


def issue_ticket(supervisor: Supervisor, run: Run) -> dict[str, str]:
    """Issue a new ticket for the agent; the ticket of an earlier attempt becomes invalid."""
    ticket = supervisor.mint(run)
    set_ticket(supervisor.home.ledger, run.session_id, ticket.hash)
    return {TICKET: ticket.token, SESSION: run.session_id}


def make_order(
    home: Home, run: Run, config: RunConfig, *, number: int, budget: Budget, environ: Mapping[str, str] = NOTHING
) -> AttemptOrder:
    """The order for a runner."""
    return AttemptOrder(
        run.session_id, run.agent, _load_text(home, run, "prompt"), config.root,
        find_folder(home, run.session_id, number), _load_text(home, run, "instructions"), config.is_native,
        config.description, config.model, config.tools, budget.max_turns, budget.max_usd, environ, config.settings,
        tuple(config.words), config.temperature, config.max_output_tokens,
    )  # fmt: skip


def _load_text(home: Home, run: Run, kind: str) -> str:
    return (load_text(home, run.session_id, kind) or b"").decode("utf-8", "surrogatepass")


def _make_launch(
    runner: Runner, config: RunConfig, order: AttemptOrder, message: str | None, harness_id: str
) -> Launch:  # fmt: skip
    if message is None:
        return runner.resume(order, harness_id, order.prompt) if config.harness_id else runner.start(order)
    if runner.can_resume and harness_id:
        return runner.resume(order, harness_id, message)
    return runner.start(order._replace(prompt=f"{order.prompt}\n\n{message}"))


# --- confinement ------------------------------------------------------------------------------------------------------


def make_confinement(
    home: Home, run: Run, config: RunConfig, runner: Runner, environ: Mapping[str, str]
) -> Confinement:  # fmt: skip
    """Let the agent write to its folder and the harness to its state, but not to files that control agents."""
    from remit.policy.confinement_profile import list_caches  # noqa: PLC0415 - only for confined runs

    harness, user_home = config.base or runner.name, environ.get("HOME", "")
    writable = (_expand(each, environ) for each in STATE_PLACES.get(harness, ()))
    places, private = list_places(config.root, user_home, harness, environ)
    permitted, new_files = _apply_permissions(home, run, config, user_home)
    return Confinement(
        config.root, tuple(filter(None, writable)), tuple(ReadOnlyPath(*place) for place in places),
        tuple(ReadOnlyPath(*place) for place in GIT_PLACES),
        (*private, environ.get("TMPDIR", ""), *list_caches(user_home, environ, permitted.write)),
        permitted, new_files, config.network,
        find_model_ports(harness, environ) if config.network == "model" else (),
    )  # fmt: skip


def _apply_permissions(home: Home, run: Run, config: RunConfig, user_home: str) -> tuple[Profile, tuple[str, ...]]:
    """Return what the agent and all its callers may write and read, with the files to create before it starts.

    The sentences on permissions that the kernel enforces differently are stored for the result.
    """
    from remit.confine import find_level  # noqa: PLC0415 - only for confined runs
    from remit.policy.confinement_profile import WRITING, judge_harness, list_new_files, make_profile  # noqa: PLC0415

    with home.ledger.reading() as db:
        given = [json.loads(each) for each in list_layers(db, run.session_id)]
    layers = [Permissions(*(each.get(name, default) for name, default in _PERMISSIONS.items())) for each in given]
    may_write = all(layer.tools is None or {*WRITING} & {*layer.tools} for layer in layers)
    own_git = (find_common_folder(config.root),) if may_write else ()
    context = PathContext(config.root, config.root, user_home, os.path.realpath)
    profile, sentences = make_profile(layers, context, write=(*config.build_places, *own_git))
    profile = judge_harness(profile, sentences, is_judged=config.judges and find_level().has_judge)
    own = os.path.realpath(f"{home.root}/.remit")
    if any(is_below(own, each) for each in profile.hide):  # the files that the runner starts the agent with
        profile = profile._replace(hide=tuple(each for each in profile.hide if not is_below(own, each)))
        sentences.append("deny read: the agent needs its files in '.remit', so what contains them isn't hidden")
    store_texts(home, run.session_id, {CONFINED: "\n".join(sentences).encode()}, durable=False)
    return profile, tuple(sorted(list_new_files(layers, context).intersection(profile.write)))


def _expand(place: str, environ: Mapping[str, str]) -> str:
    """A folder in the user's home, or one that a variable names."""
    if place.startswith("$"):
        return environ.get(place[1:], "")
    return place.replace("~", environ.get("HOME", "~"), 1)
