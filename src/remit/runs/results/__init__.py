"""Results: the whole result for users, and one within a token budget for the caller."""
