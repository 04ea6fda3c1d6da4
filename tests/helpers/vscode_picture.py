"""Takes the picture of docs/editors/vscode.md: ``PYTHONPATH=tests python -m helpers.vscode_picture``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from helpers.browser import chromium
from helpers.support import CHECKOUT, Tree, temporary_home
from helpers.vscode_window import Row, Window, code_server

PICTURE = CHECKOUT / "docs" / "editors" / "vscode.png"
SIZE = (900, 480)
FILES = {
    "notes/leases.md": "# Leases\n\n## Renewal\n\nA lease lasts thirty days.\nIt is renewed by hand.\n",
    "notes/today.md": "# Today\n\n- either rice or noodles\n- renew the lease of the garden\n",
    "src/lease.py": "LEASE = timedelta(days=30)\n\n\ndef renew(lease):\n    return lease.end + LEASE\n",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, temporary_home() as home:
        tree = Tree(Path(folder) / "desk")
        tree.write_all(FILES)
        home.run_json("up", str(tree))
        with code_server(home) as address, chromium() as browser:
            window = Window(browser, address, tree.path, SIZE)
            window.follow("lease")
            window.see(lambda: len(window.standing()) == 1 and window.standing()[0] != Row("lease", "0"), "the query")
            window.search("renew lease")
            window.see(lambda: "hits" in window.title() and window.tab().endswith(", preview"), "a preview")
            window.see(lambda: window.marked() == 1, "the match")
            window.page.screenshot(path=PICTURE)


if __name__ == "__main__":
    main()
