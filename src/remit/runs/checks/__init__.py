"""Acceptance checks: commands of the project that have to pass before Remit believes that work is complete."""
