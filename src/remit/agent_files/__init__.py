"""Agent files on disk: found, linted, fixed, made and compiled."""
