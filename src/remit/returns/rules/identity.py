"""Rules on who answers: the session that was issued, the agent, its depth and its path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.lazy_regex import lazy
from remit.model import MAX_DEPTH
from remit.returns.rules.register import ReturnViolation, return_rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from remit.model import Severity
    from remit.returns.parsed_message import ParsedMessage

_SESSION_FORM = lazy(r"sess_\d{8,}_[a-z0-9]{6}\Z")


@return_rule("RET040", verdict="missing")
def wrong_session(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The session id isn't the issued one.

    Why: agents invent ids, copy them from an example, or repeat an earlier return. Only the issued id links a
    return to its run.

    Bad: `"session_id": "sess_1735460684_a1b2c3"`, with `sess_1763200000_k3x9qz` issued.

    Good: an exact copy of the issued id.
    """
    issued = parsed.expectation.session_id
    if issued is None or not parsed.has_format("standard"):
        return
    is_cut = any(parsed.list_issues("cut"))
    for pointer in ("/metadata/session_id", "/session_id"):
        given = parsed.get(*pointer[1:].split("/"))
        is_rest_lost = is_cut and isinstance(given, str) and issued.startswith(given)  # RET005 reports that
        if isinstance(given, str) and given != issued and not is_rest_lost:
            yield ReturnViolation(
                f"the session id is not the issued one, {issued}", f"Set metadata.session_id to {issued}.", pointer
            )


@return_rule("RET041", verdict="ambiguous")
def conflicting_session_ids(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The session ids at the top and in metadata differ.

    Why: Remit reads both, and two ids don't identify one run.

    Bad: one id as `session_id` at the top, another in metadata.

    Good: one id, in metadata.
    """
    if not parsed.has_format("standard"):
        return
    top, inner = parsed.get("session_id"), parsed.get("metadata", "session_id")
    if top is not None and inner is not None and top != inner:
        yield ReturnViolation(
            "session_id has different values at the top and in metadata", "Give it only in metadata.", "/session_id"
        )


@return_rule("RET042", severity="warning")
def session_id_format(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The session id doesn't have the usual form `sess_{time}_{6 of a-z0-9}`.

    Why: ids are opaque and can have any form, but an unusual one is often invented. An id that the caller issued
    isn't reported.

    Bad: `"session_id": "my-session"`

    Good: `"session_id": "sess_1763200000_k3x9qz"`
    """
    if not parsed.has_format("standard"):
        return
    places = {
        "/metadata/session_id": parsed.text_at("metadata", "session_id"),
        "/session_id": parsed.text_at("session_id"),
    }
    pointer, given = next(((place, text) for place, text in places.items() if text), ("", ""))
    if given and given != parsed.expectation.session_id and not _SESSION_FORM.match(given):
        yield ReturnViolation(
            "the session id doesn't have the usual form sess_{time}_{6 characters}",
            "Use the id that the caller issued.",
            pointer,
        )


@return_rule("RET043")
def wrong_agent(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The return names another agent than the expected one.

    Why: `hyper` has no session id, so the name distinguishes an agent's own answer from one that it quotes. In
    other formats, a different name is a warning, and the caller's name counts.

    Bad: `"agent_type": "researcher"` from the agent `planner`.

    Good: the agent's file name.
    """
    expected = parsed.expectation.agent
    pointer = "/meta/agent_name" if parsed.has_format("hyper") else "/metadata/agent_type"
    given = parsed.text_at(*pointer[1:].split("/"))
    if expected is None or not given or parsed.expectation.names_agent(given):
        return
    severity: Severity = "error" if parsed.has_format("hyper") else "warning"
    yield ReturnViolation(f"expected agent {expected}, got {given}", f"Write {expected}.", pointer, severity)


@return_rule("RET044", severity="warning")
def wrong_call_chain(parsed: ParsedMessage) -> Iterator[ReturnViolation]:
    """The depth or path differs from the caller's, or the depth exceeds the limit.

    Why: Remit uses the caller's values, so this is a warning. An agent with a wrong depth may start more nested
    runs than it should.

    Bad: `"delegation_depth": 7`

    Good: the depth and path from the instructions. The command in a path can be left out, or written as `research`,
    `/research` or `research-command`.
    """
    depth, path = parsed.get("metadata", "delegation_depth"), parsed.get("metadata", "delegation_path")
    known = parsed.expectation
    if type(depth) is int and known.depth is not None and depth != known.depth:
        yield ReturnViolation(
            f"expected delegation_depth {known.depth}, got {depth}",
            f"Write {known.depth}.",
            "/metadata/delegation_depth",
        )
    elif type(depth) is int and depth > MAX_DEPTH:
        yield ReturnViolation(
            f"delegation_depth is {depth}, the maximum is {MAX_DEPTH}",
            "Don't start nested runs at this depth.",
            "/metadata/delegation_depth",
        )
    if isinstance(path, list) and known.path is not None and not _is_same_path(path, known.path, known.depth):
        yield ReturnViolation(
            "delegation_path isn't the path of this run", f"Write {list(known.path)}.", "/metadata/delegation_path"
        )


def _is_same_path(given: list[object], known: tuple[str, ...], depth: int | None) -> bool:
    """Whether two paths lead to the same agent, by the same command as far as both name one."""
    at = 1 if depth is None else depth  # so many agents are below the orchestrator
    agents = [(*path[:1], *path[len(path) - at :]) for path in (given, known)]
    commands = [path[1:-at] for path in (given, known)]
    if agents[0] != agents[1] or len(commands[0]) > 1:
        return False
    names = {str(each).strip().lstrip("/").removesuffix("-command") for command in commands for each in command}
    return len(names) <= 1
