"""The ``livedex`` command: its arguments, its help, its completion, and its output."""
