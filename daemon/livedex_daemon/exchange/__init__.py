"""The exchange: a durable message log and work queue for many processes, in one SQLite file."""
