"""What machines tell each other is sealed: nobody without the key says anything."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from remit.cluster.keys import KEY, KEY_FILE, find_fingerprint, load_key, make_key
from remit.cluster.orders import (
    OrderSource,
    Packed,
    RemoteResult,
    RunOrder,
    read_order,
    read_result,
    render_order,
    render_result,
)
from remit.cluster.sealing import TicketClaims, read_ticket, seal, sign_ticket, unseal
from remit.errors import ClusterError, RefusedError
from remit.git.bundles import BundledFile

if TYPE_CHECKING:
    from pathlib import Path

OURS, OTHERS = b"1" * 32, b"2" * 32
TICKET = TicketClaims("sess_1_abcdef", "sess_1_abcdef", "researcher", 1, ("orchestrator", "researcher"), 3)


def test_what_was_sealed_is_read_as_it_was() -> None:
    body = {"text": "päth \udce4\n\0", "number": 1.5, "nothing": None}
    assert unseal(OURS, "order", seal(OURS, "order", body)) == body


@pytest.mark.parametrize("change", ["key", "kind", "byte", "short", "empty", "longer"])
def test_what_somebody_else_has_written_is_refused(change: str) -> None:
    sealed = seal(OURS, "order", {"command": "true"})
    key = OTHERS if change == "key" else OURS
    kind = "outcome" if change == "kind" else "order"
    data = {"byte": sealed[:-3] + b"X" + sealed[-2:], "short": sealed[:20], "empty": b"", "longer": sealed + b" "}
    with pytest.raises(ClusterError, match="wasn't sealed with this machine's key"):
        unseal(key, kind, data.get(change, sealed))


def test_what_is_too_large_is_not_even_looked_at() -> None:
    with pytest.raises(ClusterError, match="more than 10 bytes"):
        unseal(OURS, "order", seal(OURS, "order", {"command": "true"}), limit=10)


def test_orders_and_outcomes_travel_whole() -> None:
    source = OrderSource(parcel="base-1", below=("base-0",))
    order = RunOrder(
        "sess_1_abcdef", "sess_1_abcdef", None, "a", 1, ("orchestrator", "a"), "command", 7, {"timeout_s": 3},
        {"prompt": "Do it."}, ({"session_id": "x"},), "c" * 40, "d" * 40, "sub", source, "t", ("big.bin",), "digest",
    )  # fmt: skip
    assert read_order(unseal(OURS, "order", seal(OURS, "order", render_order(order)))) == order
    packed = Packed(
        "e" * 40, "f" * 40, (BundledFile("a\nb", "100644", "0" * 64),), OrderSource("remote", "remit/x", history=True)
    )
    outcome = RemoteResult("sess_1_abcdef", 2, "w", {"result": {}}, ({"number": 1},), {"answer-1": "x"}, packed, 1, 2)
    assert read_result(unseal(OURS, "outcome", seal(OURS, "outcome", render_result(outcome)))) == outcome


def test_another_protocol_is_refused_and_unknown_words_are_passed_over() -> None:
    body = render_order(RunOrder("s", "s", None, "a", 1, (), "command"))
    assert read_order(body | {"more": 1}).agent == "a"
    with pytest.raises(ClusterError, match="protocol 2"):
        read_order(body | {"protocol": 2})


def test_a_ticket_says_who_it_is_to_who_has_the_key() -> None:
    token = sign_ticket(OURS, TICKET, os.urandom(16))
    assert read_ticket(OURS, token) == TICKET
    assert sign_ticket(OURS, TICKET, os.urandom(16)) != token
    body, mac = token.split(".")
    for forged in ("", "remit1_" + "a" * 43, f"{body[:-2]}AA.{mac}", f"{body}.{mac[:-2]}AA", token + "x"):
        with pytest.raises(RefusedError, match="wasn't signed by this cluster"):
            read_ticket(OURS, forged)
    with pytest.raises(RefusedError):
        read_ticket(OTHERS, token)


def test_a_key_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    folder = str(tmp_path / "config")
    assert load_key({}, folder) is None
    key = make_key(folder)
    assert load_key({}, folder) == make_key(folder) == key
    file = tmp_path / "config" / KEY_FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in file.parent.iterdir()] == [KEY_FILE]
    assert load_key({KEY: OTHERS.hex()}, folder) == OTHERS
    assert find_fingerprint(key) != find_fingerprint(OTHERS)
    with pytest.raises(ClusterError, match="isn't 32 bytes in hex"):
        load_key({KEY: "secret"}, folder)
    file.chmod(0o644)
    with pytest.raises(ClusterError, match="other users can read"):
        load_key({}, folder)
