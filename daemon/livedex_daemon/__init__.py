"""The resident process: watches the roots, keeps the index equal to the disk, answers over the socket."""
