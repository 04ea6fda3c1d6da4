"""Child processes of the library: how they start and end, and of which version they are."""
