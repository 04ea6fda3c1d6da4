"""A name that was typed with its package leads to its definition, though other folders or no folder are in between."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.daemon_over import daemon_over
from helpers.support import Daemon

SLEEP = """use std::task::Poll;

/// Waits.
pub fn sleep(duration: Duration) -> Sleep {
    Sleep(duration)
}

pub struct Sleep(Duration);

impl Sleep {
    pub fn reset(&self) {}
}
"""
STREAM = "pub struct TcpStream {\n    io: u8,\n}\n\nimpl TcpStream {\n    pub fn connect() {}\n}\n"
USE = "use lamp::time::sleep;\nuse lamp::net::TcpStream;\n\nasync fn main() {{\n    lamp::time::sleep({}).await;\n}}\n"
MODULES = "package lamp\n\n// RegisterModule registers.\nfunc RegisterModule(m Module) {\n}\n"
USE_OF_MODULES = "package gas\n\nfunc init() {{\n\tlamp.RegisterModule(Gas{}{{}})\n}}\n"
LINES = "        self.forward(Duration::of_one_tooth_of_the_wheel());\n" * 60  # so each method is a chunk
OTHER = (
    f"pub struct Clock;\n\nimpl Clock {{\n    pub fn tick(&self) {{\n{LINES}    }}\n\n"
    f"    pub fn sleep(&self) {{\n{LINES}    }}\n}}\n"
)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    files = {"lamp/src/time/wait.rs": SLEEP, "lamp/src/net/tcp/stream.rs": STREAM, "modules.go": MODULES}
    files["lamp/src/time/sleep.rs"] = OTHER
    files |= {f"lamp/tests/t{number}.rs": USE.format(number) for number in range(9)}
    files |= {f"gas/g{number}.go": USE_OF_MODULES.format(number) for number in range(9)}
    with daemon_over(tmp_path_factory.mktemp("lamps") / "root", files) as made:
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("lamp::time::sleep", "lamp/src/time/wait.rs", 4),
        ("lamp::sleep", "lamp/src/time/wait.rs", 4),
        ("lamp::net::TcpStream", "lamp/src/net/tcp/stream.rs", 1),
        ("lamp::net::tcp::stream::TcpStream", "lamp/src/net/tcp/stream.rs", 1),
        ("lamp.RegisterModule", "modules.go", 4),
        ("lamp.RegisterModule(", "modules.go", 4),
    ],
)
def test_the_definition_comes_first(daemon: Daemon, query: str, path: str, line: int) -> None:
    with daemon.client() as client:
        hit = client.call("search", {"query": query, "timeout_ms": 20_000})["hits"][0]
    assert (hit["relative_path"], hit["line"]) == (path, line)
