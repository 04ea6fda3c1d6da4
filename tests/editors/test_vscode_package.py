"""The extension for VS Code as the editor's own packager sees it: without a network, and with the same files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from helpers.support import CHECKOUT, Home
from helpers.vscode_window import NODE, PROGRAMS

FOLDER = CHECKOUT / "editors" / "vscode"
PACKAGER = PROGRAMS / "node_modules" / ".bin" / "vsce"
ALONE = ["unshare", "-r", "-n"]  # in a network of its own, which leads nowhere


def files(package: Path) -> set[str]:
    """The packager renames what it shows on the extension's page."""
    with zipfile.ZipFile(package) as packed:
        return {name.lower() for name in packed.namelist()}


@pytest.mark.skipif(not PACKAGER.exists(), reason="vsce is not installed: make editors")
@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare is not installed")
def test_the_packager_takes_it_as_it_is(home: Home, tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "extension")
    theirs, ours = tmp_path / "theirs.vsix", tmp_path / "ours.vsix"
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "node").symlink_to(NODE / "node")  # alone: the npm beside it does not run
    done = subprocess.run(
        [*ALONE, str(PACKAGER), "package", "--allow-missing-repository", "--out", str(theirs)],
        cwd=folder, env={**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stdout + done.stderr
    home.run("editor", "vscode", "--package", str(ours))
    assert files(theirs) == files(ours)


def test_it_is_declared_for_remote_and_untrusted_folders() -> None:
    about = json.loads((FOLDER / "package.json").read_text())
    assert about["extensionKind"] == ["workspace"], "it runs where the files and the daemon are"
    assert about["capabilities"]["untrustedWorkspaces"]["supported"] is True
    assert about["capabilities"]["virtualWorkspaces"]["supported"] is False
    path = about["contributes"]["configuration"]["properties"]["livedex.path"]
    assert path["scope"] == "machine", "a folder must not say what is run"
