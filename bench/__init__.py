"""What measures livedex: each figure as a ratio to a floor that was measured in the same run, on the same machine."""
