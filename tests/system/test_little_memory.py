"""Where memory lacks, what is encoded raises MemoryError, so that the daemon goes on and says so."""

from __future__ import annotations

import subprocess
import sys

import pytest

ENCODED = """
import resource
import msgspec
from livedex_indexing.hits.text_budget import TextBudget
from livedex_indexing.store.database import as_json
from livedex_ipc.server import message_json
class Text(msgspec.Struct):
    snippet: str
    context_before: str = ""
    context_after: str = ""
text = Text("x" * (8 << 20))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (4 << 20),) * 2)
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
try:
    {}
except MemoryError:
    print("no memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and macOS does not limit memory so")
@pytest.mark.parametrize("encodes", ["message_json.answer(1, text)", "TextBudget(None).take(text)", "as_json(text)"])
def test_no_encoding_ends_the_process(encodes: str) -> None:
    done = subprocess.run([sys.executable, "-c", ENCODED.format(encodes)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "no memory\n", "")
