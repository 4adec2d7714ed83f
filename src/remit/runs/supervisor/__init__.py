"""The supervisor: the process that executes runs, from their slots to their finish steps."""
