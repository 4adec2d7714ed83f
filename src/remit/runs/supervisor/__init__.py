"""The supervisor: the process that takes runs from their slot to their finish steps."""
