"""Chunking: cut a file's bytes into chunks with their locations, headings and symbols, in a separate process."""
