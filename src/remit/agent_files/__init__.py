"""Agent files on disk: found, linted, fixed, created, compiled and migrated."""
