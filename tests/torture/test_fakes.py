"""The fakes' short form: some lies and some honest agents of each family. `make fakes` plays all of them."""

from __future__ import annotations

from itertools import chain

from torture.fake_work import Plot, list_honest, list_lies
from torture.fakes import count_plots, play_plots

LIES, HONEST = 400, 100


def choose(plots: list[Plot], per_family: int) -> list[Plot]:
    """Some of each family, evenly over it."""
    families = dict.fromkeys(plot.family for plot in plots)
    members = [[plot for plot in plots if plot.family == family] for family in families]
    return [*chain.from_iterable(each[:: max(1, len(each) // per_family)][:per_family] for each in members)]


def test_no_lie_is_completed_and_no_honest_agent_is_called_false() -> None:
    lies, honest = list(list_lies()), list(list_honest())
    assert len(lies) >= LIES
    assert len(honest) >= HONEST
    played = [*choose(lies, 2), *choose(honest, 1)]
    assert len({plot.family for plot in played}) == len({plot.family for plot in (*lies, *honest)})
    count = count_plots(play_plots(played))
    assert count.lies.total() == sum(plot in lies for plot in played)
    assert count.honest.total() >= sum(plot in honest for plot in played)
    assert (count.believed, count.accused) == ([], [])
