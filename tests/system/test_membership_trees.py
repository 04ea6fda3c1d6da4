"""A running daemon lists of generated ignore trees what git lists, also after their ignore files changed.

The trees are those of `properties/test_membership`, many of them below one root, each a work tree.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from helpers.disk_inventory import is_own_rule, listed, path_params
from helpers.support import Daemon, Home, Tree, add_root
from livedex_ipc.client import Client
from properties.test_membership import FORESTS, Forest, environment, listed_by_git, plant

if TYPE_CHECKING:
    from collections.abc import Callable

TREES = int(os.environ.get("LIVEDEX_TREES", "50"))


def forests(number: int) -> list[Forest]:
    """Return that many trees from Hypothesis, the same in every run."""
    made: list[Forest] = []

    @settings(
        max_examples=number,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(FORESTS)
    def gather(forest: Forest) -> None:
        made.append(forest)

    gather()
    return made


def differences(client: Client, root: Path, folders: list[bytes], environ: dict[str, str]) -> list[str]:
    """Return every path that livedex has and git does not, or the reverse without a rule of livedex's own."""
    top = os.fsencode(root)
    expected = {
        folder + b"/" + name for folder in folders for name in listed_by_git(os.path.join(top, folder), environ)
    }
    have = set(listed(client, root))
    wrong = [f"{name!r}: only livedex has it" for name in sorted(have - expected)]
    for name in sorted(expected - have):
        answer = client.call("files/explain", path_params(os.path.join(top, name)))
        if not is_own_rule(name, answer):
            wrong.append(f"{name!r}: only git has it, and `why` says {answer}")
    return wrong


def everywhere(forest: Forest) -> bytes:
    """Return the user's patterns of a tree for all trees, without those that would exclude the trees themselves."""
    return b"" if b"*" in forest.everywhere or b"[" in forest.everywhere else forest.everywhere


def write_rules(folder: bytes, forest: Forest) -> None:
    """Give a tree the ignore files of another, as far as its folders allow."""
    for path, _folders, names in os.walk(folder):
        if b".gitignore" in names and b"/.git" not in path:
            os.unlink(os.path.join(path, b".gitignore"))
    for inside, data in forest.ignores.items():
        parent = os.path.join(folder, inside)
        if os.path.isdir(parent):
            Path(os.fsdecode(os.path.join(parent, b".gitignore"))).write_bytes(data)
    Path(os.fsdecode(os.path.join(folder, b".git/info/exclude"))).write_bytes(forest.exclude)


@pytest.mark.needs("git")
def test_generated_trees(home: Home, tree: Tree, start_daemon: Callable[..., Daemon]) -> None:
    trees = forests(TREES)
    user = Path(home.env["HOME"])
    (user / ".config/git").mkdir(parents=True)
    (user / ".config/git/ignore").write_bytes(next(filter(None, map(everywhere, trees))))
    environ = environment(user)
    folders = [b"tree%03d" % number for number in range(len(trees))]
    for folder, forest in zip(folders, trees, strict=True):
        os.mkdir(os.path.join(os.fsencode(tree.path), folder))
        plant(os.path.join(os.fsencode(tree.path), folder), forest, environ)
    with start_daemon().client() as client:
        add_root(client, tree)
        assert differences(client, tree.path, folders, environ) == []
        for folder, forest in zip(folders, trees[1:] + trees[:1], strict=True):
            write_rules(os.path.join(os.fsencode(tree.path), folder), forest)
        assert client.call("sync")["synced"]
        assert differences(client, tree.path, folders, environ) == []
