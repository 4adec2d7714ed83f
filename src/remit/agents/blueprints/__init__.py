"""Blueprints: what an agent of each kind says and does, as data for `scaffold`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.agents.blueprints.form import Blueprint
from remit.agents.blueprints.implementation import IMPLEMENTATION
from remit.agents.blueprints.planning import PLANNING
from remit.agents.blueprints.research import RESEARCH
from remit.agents.blueprints.review import REVIEW
from remit.agents.blueprints.utility import UTILITY

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BLUEPRINTS", "Blueprint"]

BLUEPRINTS: Mapping[str, Blueprint] = {
    blueprint.kind: blueprint for blueprint in (PLANNING, IMPLEMENTATION, RESEARCH, REVIEW, UTILITY)
}
