"""Sessions of users: a token is valid for an hour."""

HOUR_S = 3600


def is_valid(started_s: float, now_s: float) -> bool:
    """Whether a session is still valid.

    >>> is_valid(0, 3599), is_valid(0, 3600)
    (True, False)
    """
    return now_s - started_s < HOUR_S
