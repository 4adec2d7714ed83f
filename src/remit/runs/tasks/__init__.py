"""Task commands: runs that research, plan, implement, revise and review a task."""
