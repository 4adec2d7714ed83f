"""Admission: decide whether a run may start, and fix its configuration."""
