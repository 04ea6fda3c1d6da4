"""Chunking: a file's bytes become chunks with their places, headings and symbols, in a process of their own."""
