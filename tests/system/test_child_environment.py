"""Keys in the daemon's environment reach the part that needs them, and no process that the daemon starts besides."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.daemon_health import children
from helpers.fake_gateway import FakeGateway
from helpers.support import Daemon, Home, Tree, wait_until
from livedex_indexing.child import child_starter

PLUGIN = """
import os
from livedex_indexing.plugins import Span

class Signed:
    def __init__(self, key):
        self.key = key
    def chunk(self, text, suffix):
        assert self.key == "of the pipeline"
        return [Span(0, len(text))]

def register(registry):
    registry.register_pipeline("signed", lambda config: Signed(os.environ.get(config["plugin"]["access_env"])))
"""
KEYS = {"GATEWAY_ACCESS": "of the gateway", "OPENAI_API_KEY": "of another", "PIPELINE_ACCESS": "of the pipeline"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
def test_no_child_has_the_key_of_a_gateway(
    home: Home, tree: Tree, tmp_path: Path, gateway: FakeGateway, start_daemon: Callable[..., Daemon]
) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir(mode=0o700)
    (plugins / "signer.py").write_text(PLUGIN)
    tree.write_all({"a.txt": "a vessel\n", "b.signed": "a loaf\n"})
    embedding = f'embedder = "openai"\nmodel = "m"\napi_base = "{gateway.url}"\napi_key_env = "GATEWAY_ACCESS"\n'
    config = f'[[roots]]\npath = "{tree}"\n[embedding]\n{embedding}[plugins]\npaths = ["{plugins}"]\n'
    config += '[chunking]\npipelines = { ".signed" = "signed" }\n[plugin.signer]\naccess_env = "PIPELINE_ACCESS"\n'
    with start_daemon(config, **KEYS).client() as client:
        assert client.sync(timeout_ms=60_000)["synced"]
        pid = home.server_pid()
        assert pid is not None
        started = wait_until(lambda: children(pid), what="a process that cuts files")
        environments = [Path(f"/proc/{child}/environ").read_text() for child in started]
        assert not [key for key in ("GATEWAY_ACCESS", "OPENAI_API_KEY") if any(key in text for text in environments)]
        assert any("PIPELINE_ACCESS" in text for text in environments)
        hits = client.search(query="loaf", mode="keyword")["hits"]
        assert [hit["metadata"].get("fallback") for hit in hits] == [None], "the pipeline has its key"
        wait_until(lambda: client.status()["vectors_pending"] == 0, 30.0, what="the vectors")
        assert {key for _, _, key in gateway.requests} == {"Bearer of the gateway"}


def test_what_is_called_like_a_key_is_withheld_from_every_child() -> None:
    given = {"PATH": "/bin", "MY_TOKEN": "t", "AWS_SECRET_ACCESS_KEY": "s", "named": "n", "TOKENIZERS_PARALLELISM": "f"}
    names = "import os; print(','.join(sorted(set(os.environ) & {'MY_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'named',"
    names += " 'TOKENIZERS_PARALLELISM'})))"

    def kept(names_withheld: tuple[str, ...], passed: tuple[str, ...]) -> str:
        child_starter.withhold(names_withheld, passed)
        child = child_starter.start_child(["-I", "-c", names], given)
        assert child.stdout is not None
        with child:
            wait_until(lambda: child.poll() is not None, what="its end")
            return child.stdout.read().decode().strip()

    try:
        assert kept(("named",), ()) == "TOKENIZERS_PARALLELISM"
        assert kept((), ("MY_TOKEN",)) == "MY_TOKEN,TOKENIZERS_PARALLELISM,named"
    finally:
        child_starter.withhold(())
