"""SQLite files that nothing may replace: what was acknowledged is on the disk, and many processes share them."""
