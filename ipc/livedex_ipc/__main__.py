"""``python -m livedex_ipc`` is the ``livedex`` command."""

from __future__ import annotations

import sys

from livedex_ipc.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
