"""Labelled final messages: what must be found in them, and what may not be accepted."""
