"""The beginning of a definition, a keyword and a name, leads to the definition, and not to one of its many uses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.daemon_over import daemon_over
from helpers.support import Daemon

HEADER = """/* Each struct crane_ops belongs to one crane. */
struct crane_ops;

enum crane_state {
\tCRANE_UP,
};

struct crane_ops {
\tint (*lift)(struct crane_ops *ops);
};
"""
USE = "struct crane_ops;\n\nint crane_lift{}(struct crane_ops *ops, enum crane_state state);\n"
MANUAL = "struct crane_ops\n================\n\nThe struct crane_ops is for cranes.\n"
CLASS = "declare class Crane;\n\nexport abstract class Crane extends Base {\n}\n"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    files = {"include/cranes.h": HEADER, "web/Crane.ts": CLASS, "doc/crane_ops.rst": MANUAL}
    files |= {f"a{number}/crane_ops.h": USE.format(number) for number in range(120)}  # more than are read
    with daemon_over(tmp_path_factory.mktemp("cranes") / "root", files) as made:
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("struct crane_ops", "include/cranes.h", 8),
        ("struct crane_ops {", "include/cranes.h", 8),
        ("crane_ops struct", "include/cranes.h", 8),
        ("enum crane_state", "include/cranes.h", 4),
        ("abstract class Crane", "web/Crane.ts", 3),
    ],
)
def test_the_definition_comes_first(daemon: Daemon, query: str, path: str, line: int) -> None:
    with daemon.client() as client:
        hit = client.call("search", {"query": query, "timeout_ms": 20_000})["hits"][0]
    assert (hit["relative_path"], hit["line"]) == (path, line)
