"""Delegations: from admission to settlement."""
