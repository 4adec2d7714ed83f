"""The door for harnesses that speak the Model Context Protocol, over standard input and output.

`wire` carries the messages, `desk` answers those that open a connection while the library is still loading, `server` is
the only importer of that library. `catalogue` says what is offered, `tools` and `resources` do it.
"""
