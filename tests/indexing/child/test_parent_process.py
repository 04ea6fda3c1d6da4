"""What each child process does first."""

from __future__ import annotations

import subprocess
import sys

CHILD = """
import os
from livedex_indexing.child.parent_process import follow_parent

def refuse(increment):
    raise PermissionError(1, "Operation not permitted")

os.nice = refuse
follow_parent(os.getppid(), 10)
print("works")
"""


def test_a_child_works_where_the_system_lets_it_lower_no_priority() -> None:
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("works\n", "")
