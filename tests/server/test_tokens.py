"""What opens the door, by its own clock."""

from __future__ import annotations

from remit.server.rate_limit import Rates
from remit.server.tokens import LOGIN_S, SESSION_S, Tokens, hash_token, make_token


class Clock:
    """A time that is what it is set to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def test_a_login_opens_one_session_and_is_used_up() -> None:
    tokens = Tokens("api")
    login = tokens.issue_login()
    session = tokens.redeem(login)
    assert session is not None
    assert tokens.redeem(login) is None
    guest = tokens.find_session(session)
    assert guest is not None
    assert guest.kind == "cookie"
    assert guest.id == hash_token(session)  # what is shown in logs and compared opens nothing
    assert tokens.find_session(login) is None
    assert tokens.find_session(guest.id) is None


def test_a_login_is_good_for_a_minute_and_a_session_for_half_a_day() -> None:
    clock = Clock()
    tokens = Tokens("api", clock=clock)
    late, login = tokens.issue_login(), tokens.issue_login()
    clock.now += LOGIN_S - 1
    session = tokens.redeem(login)
    assert session is not None
    clock.now += 1
    assert tokens.redeem(late) is None
    guest = tokens.find_session(session)
    assert guest is not None
    clock.now += SESSION_S - 2
    assert tokens.is_good(guest)
    clock.now += 2
    assert tokens.find_session(session) is None
    assert not tokens.is_good(guest)


def test_who_logs_out_is_out() -> None:
    tokens = Tokens("api")
    session = tokens.redeem(tokens.issue_login())
    assert session is not None
    guest = tokens.find_session(session)
    assert guest is not None
    tokens.end_session(guest)
    assert tokens.find_session(session) is None
    assert not tokens.is_good(guest)


def test_sessions_outlive_a_server_but_not_their_time() -> None:
    clock, later = Clock(), Clock()
    tokens = Tokens("api", clock=clock)
    old, new = tokens.redeem(tokens.issue_login()), tokens.redeem(tokens.issue_login())
    assert old is not None
    assert new is not None
    clock.now += 100
    kept = tokens.list_sessions()
    assert kept == {hash_token(old): SESSION_S - 100, hash_token(new): SESSION_S - 100}
    after = Tokens("another", sessions=kept | {hash_token(new): 10 * SESSION_S}, clock=later)
    assert after.find_session(old) == tokens.find_session(old)
    later.now += SESSION_S - 100
    assert after.find_session(old) is None
    assert after.find_session(new) is not None
    later.now += 100
    assert after.find_session(new) is None, "no longer than a session is, whatever is written down"
    many = Tokens("api", sessions={str(number): 100.0 + number for number in range(500)})
    assert [*many.list_sessions()] == [str(number) for number in range(436, 500)]


def test_only_the_apis_token_is_the_apis_token() -> None:
    token = make_token()
    tokens = Tokens(token)
    assert tokens.find_bearer(token) is not None
    for wrong in ("", token[:-1], f"{token}x", token.swapcase(), hash_token(token), "\udcff"):
        assert tokens.find_bearer(wrong) is None


def test_tokens_do_not_pile_up() -> None:
    tokens = Tokens("api")
    first = tokens.issue_login()
    logins = [tokens.issue_login() for _ in range(200)]
    assert tokens.redeem(first) is None
    assert tokens.redeem(logins[-1]) is not None


def test_ten_wrong_tokens_in_a_minute_are_enough() -> None:
    clock = Clock()
    tokens = Tokens("api", clock=clock)
    assert [tokens.count_failure() for _ in range(10)] == [0.0] * 10
    assert tokens.count_failure() == 60.0
    clock.now += 59.5
    assert tokens.count_failure() == 0.5
    clock.now += 1
    assert tokens.count_failure() == 0.0


def test_a_bucket_is_emptied_and_filled_again() -> None:
    clock = Clock()
    rates = Rates(per_second=50, burst=200, clock=clock)
    assert not any(rates.take("a") for _ in range(200))
    assert rates.take("a") == 0.02
    assert rates.take("b") == 0
    clock.now += 0.1
    assert [rates.take("a") > 0 for _ in range(6)] == [False] * 5 + [True]
    clock.now += 3600
    assert not any(rates.take("a") for _ in range(200))
    assert rates.take("a") > 0


def test_buckets_do_not_pile_up() -> None:
    rates = Rates(burst=1, per_second=0.0001)
    assert rates.take("first") == 0
    assert rates.take("first") > 0
    assert not any(rates.take(f"guest {number}") for number in range(200))
    assert rates.take("first") == 0  # it was forgotten
