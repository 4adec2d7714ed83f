"""What a workspace sets about confinement: `[confine]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.config.reading import read_switch, read_texts, read_word
from remit.quick_tuple import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def read_confine(values: Mapping[str, Any]) -> ConfineSettings:
    """Read the table `[confine]`."""
    read: dict[str, Any] = {}
    for key, value in values.items():
        name = f"confine.{key}"
        if key == "write":
            read[key] = read_texts(value, name, "~/.cache/uv")
        elif key == "judge":
            read[key] = read_switch(value, name)
        else:
            read[key] = read_word(value, name, MODES if key == "mode" else NETWORKS)
    return ConfineSettings(**read)
