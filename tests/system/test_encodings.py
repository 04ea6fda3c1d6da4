"""Encodings that the configuration names: files are read again when it changes, and hits say which one they have."""

from __future__ import annotations

import json
from collections.abc import Callable

from helpers.support import Daemon, Home, Tree, wait_until

RUSSIAN = "корабли и якоря"


def test_an_encoding_by_root_and_by_glob(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    (tree / "a.txt").write_bytes(RUSSIAN.encode("koi8-r"))
    (tree / "b.pas").write_bytes(RUSSIAN.encode("cp866"))
    (tree / "c.txt").write_bytes(RUSSIAN.encode())
    (tree / "d.txt").write_bytes(b"\xff\xfe" + RUSSIAN.encode("utf-16-le"))

    def configure(root: str, table: str) -> None:
        new = home.path / "config.new"
        new.write_text(f'{table}\n[[roots]]\npath = "{tree}"\n{root}\n')
        new.rename(home.config)

    def encodings() -> dict[str, str]:
        done = home.run("search", "якоря", "--timeout", "30", "--json")
        hits = json.loads(done.stdout)["hits"] if done.returncode == 0 else []
        return {hit["relative_path"]: hit["metadata"].get("encoding", "utf-8") for hit in hits}

    configure('encoding = "koi8-r"', '[index]\nencodings = { "*.txt" = "koi8-r", "*.pas" = "cp866" }')
    start_daemon()
    marked = {"c.txt": "utf-8", "d.txt": "utf-16-le"}
    wait_until(lambda: encodings() == {"a.txt": "koi8-r", "b.pas": "cp866", **marked}, what="the first index")
    configure('encoding = "cp866"', "")
    wait_until(lambda: encodings() == {"b.pas": "cp866", **marked}, what="the files read again")
    assert home.run("audit").returncode == 0
    assert home.run("search", "-F", "якоря", "-l").stdout.count("\n") == 3
    configure('encoding = "koi9"', "")
    done = home.run("config", "validate")
    assert (done.returncode, "roots[0].encoding" in done.stderr) == (2, True)
