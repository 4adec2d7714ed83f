"""The MCP server: Remit's tools and resources for harnesses, over standard input and output.

`stdio.py` reads and writes messages. `handshake.py` answers the first messages while the MCP library loads; only
`server.py` imports that library. `catalog.py` describes the tools and resources, and `tools.py`, `run_tools.py`,
`workspace_tools.py` and `resources.py` implement them.
"""
