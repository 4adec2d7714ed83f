"""The worker's side: a process that takes sessions from queues and executes each in a checkout."""
