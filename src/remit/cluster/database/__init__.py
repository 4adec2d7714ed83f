"""The cluster: what machines share, in one PostgreSQL database that workers and callers write to.

Owns the schema `remit` there: delegations that were sent (`rows`; `posting` and `leases` write them), `workers`, what
agents printed (`output`), the `parcels` that files travel in, and a few facts (`meta`). `store` is the connection,
`schema` and `retention` keep the tables. Whoever runs the queues has tables of its own, which nobody here touches.
"""
