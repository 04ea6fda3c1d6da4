"""Vectors of chunks in sqlite-vec: filled in behind the index, once for each text, compared with a query's vector."""
