"""Chinese and Thai through a real daemon: every piece of text is found, also across the borders of chunks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from helpers.support import Tree, add_root

if TYPE_CHECKING:
    from livedex_ipc.client import Client


def test_pieces_of_a_run_are_found_over_the_borders_of_chunks(client: Client, tree: Tree) -> None:
    chance = random.Random(8)
    run = "".join(chance.choices([chr(0x4E00 + number) for number in range(3000)], k=5000))
    tree.write_all({"run.txt": run, "thai.md": "# คู่มือ\n\nการค้นหาภาษาไทยด้วย livedex\n"})
    add_root(client, tree)

    def search(query: str) -> list[dict[str, Any]]:
        hits: list[dict[str, Any]] = client.call("search", {"query": query})["hits"]
        return hits

    chunks = client.call("files/retrieve", {"path": str(tree / "run.txt")})["chunks"]
    borders = [chunk["start_byte"] // 3 for chunk in chunks[1:]]
    assert borders, "the run is cut"
    for border in borders:
        for start in (border - 9, border - 5, border - 1, border):
            hits = search(run[start : start + 10])
            assert {hit["relative_path"] for hit in hits} == {"run.txt"}, start - border
    assert search(f'"{run[100:106]}{run[200]}"') == search(f'"的{run[100:102]}的"') == [], "nowhere in a row"
    assert [hit["relative_path"] for hit in search(run[100:106] + run[200])] == ["run.txt"], "for its pairs"
    (hit,) = search("ภาษา")
    assert [hit["snippet"][start:end] for start, end in hit["highlights"]] == ["ภาษา"]
    assert hit["heading"] == "คู่มือ"
    assert [hit["relative_path"] for hit in search("คู่มื")] == ["thai.md"]
