"""Runs on other machines: a caller posts orders to PostgreSQL, and workers on other machines execute them.

    caller/    cluster_backend → client → remote_run: submission · result_import
    worker/    worker: queues (DBOS), heartbeat, reaper → job: session_import · progress_reporter · publication;
               worker_folder, worker_context
    database/  the tables and their queries, one module per subject
    both       orders, sealing, keys · transfer · row_conversion · retry · downgrade
    entries    run_worker starts and drains workers, workers_status queries them

A caller and a worker exchange data only through the database and a git remote, and only `worker/queues` imports DBOS.
An agent on a worker that starts a nested run is a caller itself.
"""
