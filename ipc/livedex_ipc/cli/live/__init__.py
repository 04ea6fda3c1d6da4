"""The terminal UI of ``livedex live``, which searches as the user types.

Invariant: ``live_model`` and ``live_view`` are pure; only ``live_screen`` and ``live_session`` touch the terminal.
"""
