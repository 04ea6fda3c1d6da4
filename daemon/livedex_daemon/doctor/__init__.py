"""``livedex doctor``: checks of the installation, the files and the limits."""
