"""Configure the documentation site: Sphinx over the Markdown pages of this folder.

Invariant: a build with ``-W`` fails on a link that leads nowhere.
"""

from livedex_ipc import __version__

project = "livedex"
author = "the authors of livedex"
release = version = __version__

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["site"]
html_theme = "alabaster"
myst_heading_anchors = 3  # levels of headings that a link may name, with the anchors that forges give them
