"""Finish steps: manifest, task, error log and git after a run."""
