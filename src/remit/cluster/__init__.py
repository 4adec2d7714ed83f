"""Beyond one machine: a caller posts orders, workers on other machines carry them out, PostgreSQL is between them.

    caller/   backend → afar → errand: sending · arriving · giving_up
    worker/   process: queue (DBOS), beating, reaping → job: checking · adopting · telling · packing · publishing ·
              clearing; site
    both      order, sealing, keys · bases, saved · shapes · patience · doubt

A caller never speaks to a worker, and only `worker/queue` knows DBOS. An agent on a worker that hands work on is a
caller itself.
"""
