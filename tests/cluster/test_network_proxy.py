"""The network that fails really fails, and heals: else what is proved with it is not."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.support.network_proxy import Proxy, proxy

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def way(url: str) -> Iterator[Proxy]:
    with proxy(url) as made:
        yield made


def test_a_cut_ends_what_is_there_and_refuses_what_comes(way: Proxy) -> None:
    with psycopg.connect(way.url, autocommit=True) as line:
        assert line.execute("SELECT 1").fetchall() == [(1,)]
        way.cut()
        with pytest.raises(psycopg.OperationalError):
            line.execute("SELECT 1")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(way.url)
    assert (way.ended, way.refused > 0) == (1, True)
    way.heal()
    with psycopg.connect(way.url) as line:
        assert line.execute("SELECT 2").fetchall() == [(2,)]


@pytest.mark.parametrize("up", [True, False])
def test_what_stalls_arrives_later(way: Proxy, *, up: bool) -> None:
    with psycopg.connect(way.url, autocommit=True) as line:
        way.stall(up=up, down=not up)
        threading.Timer(0.3, way.heal).start()
        began = time.monotonic()
        assert line.execute("SELECT 1").fetchall() == [(1,)]
        assert time.monotonic() - began > 0.25
    assert way.held > 0
