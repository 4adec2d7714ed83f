"""Reporting: what is told of a delegation, whole for people and within a budget for its caller."""
