"""Rules on agent files: a module per subject.

Each module registers its rules with `register` when it is imported. A file only loads the modules with rules for its
profile. If no file changed, only the rules on the call graph (`graph`) are loaded.
"""
