"""Standing queries: what changed, what each client was sent, and what became a message."""
