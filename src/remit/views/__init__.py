"""Views: what users see of runs, tasks, findings, errors and agents, and the actions of the dashboard.

Owns the values that are shown, as plain JSON without secrets. Nothing here knows how they are carried or drawn.
"""
