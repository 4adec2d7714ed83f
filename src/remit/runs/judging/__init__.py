"""Judging: compare the final message with the tree, and conclude the run."""
