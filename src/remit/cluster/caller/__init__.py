"""The caller's side: posts orders, follows remote runs, and imports their results."""
