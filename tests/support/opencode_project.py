"""What the researcher of the example project writes."""

from __future__ import annotations

SPECS = ".opencode/specs"
REPORT = f"{SPECS}/13_round_amounts_to_what_a_scale_can_weigh/reports/research-001.md"
