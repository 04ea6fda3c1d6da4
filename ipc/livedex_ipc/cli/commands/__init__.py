"""The commands of ``livedex``, one module for each group; a module is loaded only when its command runs."""
