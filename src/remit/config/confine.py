"""What a workspace sets about confinement: `[confine]`."""

from __future__ import annotations

from remit.config.values import ValueRule
from remit.light_namedtuple import NamedTuple

MODES = ("off", "auto", "require")
NETWORKS = ("none", "model", "all")


class ConfineSettings(NamedTuple):
    """Which agents the kernel limits, and what it lets them write and reach: `[confine]`."""

    mode: str = "auto"
    """`off`: only runs with `--confine`. `auto`: also agents whose file has permissions, if the machine can do it.
    `require`: all agents, and none runs unconfined."""
    write: tuple[str, ...] = ()
    """Folders that every build needs and confined agents may write, such as `~/.cache/uv`."""
    network: str = "all"
    """What confined agents reach: `none`, only the ports of the `model`, or `all`."""
    judge: bool = True
    """Whether denied programs are refused whenever one is started, if the machine can do it."""


RULES = {"mode": ValueRule(words=MODES), "write": ValueRule("~/.cache/uv"), "network": ValueRule(words=NETWORKS)}
