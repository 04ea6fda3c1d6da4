"""What may have changed: events from the kernel, the states of the roots, and the backlog of marked paths."""
