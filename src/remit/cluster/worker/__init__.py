"""The worker's side: a process that takes sessions from the queues and has each carried out in a checkout."""
