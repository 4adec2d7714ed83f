"""Runs: from the request to the result.

    admission    who may call whom: guard, tickets, limits, inputs, and the fixed configuration of a run
    supervisor   slots, attempts and recovery: the run loop launches, watches, judges and asks again
    judging      the return compared with the tree: verdict and conclusion
    finish       finish steps: manifest, task, error log, git
    results      the whole result, and the one that fits the caller's token budget
    tasks        the task commands

A run executes on this machine (`local_backend`, under the shim), on a worker (`cluster`), or in a harness (`hooks`),
where Remit admits, guards and judges it. The first two are backends.
"""
