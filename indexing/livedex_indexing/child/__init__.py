"""Child processes of the library: their start, their end and their version."""
