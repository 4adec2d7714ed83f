"""Runs on other machines: a caller posts orders to PostgreSQL, and workers on other machines take and execute them.

    caller/    cluster_backend → client → remote_run: submit · arrivals · lost_worker
    worker/    worker: queues (DBOS), heartbeat, reaper → job: check_order · import_session · progress_reporter ·
               pack_work · publish · cleanup; worker_context
    database/  the tables and their queries, one module per subject
    both       orders, sealing, keys · base_trees, checkpoint · row_conversion · retry · downgrade
    also       run_worker, worker_folder · workers_status

A caller and a worker exchange data only through the database and a git remote, and only `worker/queues` imports DBOS.
An agent on a worker that starts a nested run is a caller itself.
"""
