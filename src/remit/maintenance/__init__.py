"""Maintenance of a workspace: `remit init`, `remit gc` and `remit doctor`."""
