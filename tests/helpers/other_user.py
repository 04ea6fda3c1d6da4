"""What root may do and another user may not."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

NOBODY = 65534
# Root may do everything: without these two capabilities the permission bits apply to it too.
HUMBLE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
CAN_DENY = not HUMBLE or shutil.which("setpriv") is not None

needs_permissions = pytest.mark.skipif(not CAN_DENY, reason="root may do everything, and setpriv is not here")


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run the block without root's permissions."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
