"""From a path that may have changed to the commit: inspection, reading, chunking, storing."""
