"""Refereeing: what follows when a harness starts a subagent, hears its answer, begins or ends.

The only place where the referee meets definitions, evidence and settling; the decisions are `delegate.referee`'s.
"""
