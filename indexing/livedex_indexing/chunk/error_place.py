"""What may be said of an error in a pipeline: its message may quote the file."""

from __future__ import annotations

import os


def error_place(error: BaseException) -> str:
    """Return the error's type, and the file and line of code that raised it, without its message."""
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    where = f" in {os.path.basename(frames.tb_frame.f_code.co_filename)}:{frames.tb_lineno}" if frames else ""
    return type(error).__name__ + where
