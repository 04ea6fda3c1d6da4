"""Makes the picture in docs/web.md: the page in Chromium, with the files of this module.

``PYTHONPATH=tests python -m helpers.web_picture`` writes docs/web.png.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.browser import chromium
from helpers.support import CHECKOUT, Daemon, Tree, add_root, temporary_home
from helpers.web_process import WebProcess

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURE = CHECKOUT / "docs" / "web.png"
FILES = {
    "notes/leases.md": "# Leases\n\n## Renewal\n\nA lease lasts thirty days.\nIt is renewed by hand, a week before.\n",
    "notes/today.md": "# Today\n\n- renew the lease of the flat\n- two lemons, a bag of rice\n",
    "src/lease.py": "LEASE = timedelta(days=30)\n\n\ndef renew(lease):\n    return lease.end + LEASE\n",
    "src/clock.go": "// Expired tells whether a lease has ended.\n"
    "func Expired(lease Lease) bool {\n\treturn now().After(lease.End)\n}\n",
    "src/config.toml": '[lease]\ndays = 30\nrenew = "by hand"\n',
}


def make(picture: Path, browser: Browser) -> None:
    """Write a picture of a search to ``picture``."""
    with tempfile.TemporaryDirectory() as folder, temporary_home() as home:
        tree = Tree(Path(folder) / "desk")
        tree.write_all(FILES)
        daemon = Daemon(home).start()
        with daemon.client() as client:
            add_root(client, tree)
        with WebProcess(home, "--editor", "vscode") as web:
            page = browser.new_page(viewport={"width": 960, "height": 620}, color_scheme="light")
            page.goto(web.url)
            page.locator("#query").fill("renew lease")
            page.locator("#facets fieldset").first.wait_for()
            page.locator("#live").wait_for()
            page.screenshot(path=picture)
            page.close()
        daemon.stop()


if __name__ == "__main__":
    with chromium() as started:
        make(PICTURE, started)
