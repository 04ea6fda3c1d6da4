"""Jobs that run on a schedule or while the daemon is idle."""
