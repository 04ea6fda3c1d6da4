"""The query: parsing, compiling against one index, spelling correction, filters and scope."""
