"""Driving: a process takes delegations from their slot to the end of their agents' work, and settles them."""
