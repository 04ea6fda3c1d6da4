"""A key of a file of settings is found below the section or the keys that were typed, however they were typed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"# step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("settings")) as made:
        made.write("root/baker.conf", f"{FILLER}[tool.oven]\nheat = 200\n{FILLER}")
        made.write("root/oven.toml", "[tool.shelf]\nheat = 20  # not in tool.oven\n" * 4)
        made.write("root/oven.py", "def heat(tool, oven):\n    return tool.oven.shelf.heat\n")
        yield made


@pytest.mark.parametrize("query", ["[tool.oven] heat", "tool.oven.heat", "heat in [tool.oven]", "[tool.oven] heat=200"])
def test_a_key_is_found_in_its_section(settings: Indexed, query: str) -> None:
    assert settings.search(query)[0]["relative_path"] == "baker.conf"


YAML = "kiln:\n{}  loaves:\n  - name: rye\n    glaze:\n      salt: 3\n".format("  # of the kiln\n" * LINES)
NESTED = {
    "deploy.yaml": YAML,
    "build.json": '{\n  "kiln": {\n    "loaves": [\n      {\n        "crust": 2\n      }\n    ]\n  }\n}\n',
    "bake.toml": f"[kiln.'doors']\n{FILLER}left.open = true\n",
    "app.properties": "kiln.fan=8080\n",
}


@pytest.fixture(scope="module")
def nested(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("nested")) as made:
        for name, text in NESTED.items():
            made.write(f"root/{name}", text)
        made.write("root/kiln.md", "# Kiln\n\nIt has loaves, glaze, salt, crust, doors left open, a fan.\n" * 4)
        made.write("root/kiln.yaml", "loaves:\n  glaze: salt\nkiln:\n  salt: 1\n  crust: 1\n  open: doors\nfan: left\n")
        yield made


@pytest.mark.parametrize(
    ("query", "name", "line"),
    [
        ("kiln.loaves.glaze.salt", "deploy.yaml", "salt: 3"),
        ("loaves.glaze.salt:", "deploy.yaml", "salt: 3"),
        (".kiln.loaves[0].glaze", "deploy.yaml", "glaze:"),
        ("kiln.loaves.0.crust", "build.json", "crust"),
        ("loaves.crust", "build.json", "crust"),
        ("doors.left.open", "bake.toml", "open = true"),
        ("left.open in [kiln.doors]", "bake.toml", "open = true"),
        ("kiln.doors", "bake.toml", "[kiln.'doors']"),
        ("kiln.fan", "app.properties", "8080"),
    ],
)
def test_a_nested_key_is_found_by_its_path(nested: Indexed, query: str, name: str, line: str) -> None:
    first = nested.search(query)[0]
    assert first["relative_path"] == name
    assert line in "".join(NESTED[name].splitlines(keepends=True)[first["start_line"] - 1 : first["end_line"]])
