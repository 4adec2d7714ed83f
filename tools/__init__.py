"""Programs for whoever works on Remit: they write pages from the code, and set a machine up."""
