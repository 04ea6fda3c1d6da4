"""The index file as a whole: opened at the start, read by searches, rebuilt when it is lost or damaged."""
