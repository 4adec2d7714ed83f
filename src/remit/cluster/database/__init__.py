"""The PostgreSQL database that the callers and workers of a cluster share: its tables and queries.

Everything is in the schema `remit`. `store` and `driver` have the connections, `schema` creates the tables and
`retention` prunes them. `session_rows` reads the runs; `submissions` writes them for callers, `leases` for workers.
`workers`, `output` and `bundles` have one table each, and `overview` reads all of them at once. The tables of DBOS are
separate; only `worker/queues` uses them.
"""
