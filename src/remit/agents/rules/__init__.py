"""Rules on agent files: a module per subject.

Each module registers its rules with `register` when it is loaded. Only the modules with rules for the profile of a file
are loaded for it. If no file changed, only the rules on the graph (`graph`) are loaded.
"""
