"""Delegating: work is handed to an agent and its return brought back.

`asking` is what can be asked for, `agents` finds who does it, `preparing` makes a row of the ledger of it, `workspace`
is what a program opens to delegate, `settling` what is done on disk afterwards.
"""
