"""A library: files in, hits out. It knows folders, chunks and the index, and nothing of sockets or daemons."""
