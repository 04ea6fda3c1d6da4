"""A name that only a line declares is found where it is in a message, among the kinds of names, in words, or in a call
that reads it: its line comes before what uses it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import Indexed

RUST = """/// A crane. Its swing_limit is never zero.
pub struct Crane {
    pub swing_limit: u32,
    pub state: State,
}

pub enum State {
    AtRest,
    HalfRaised,
}
"""
USES_OF_RUST = """fn lift(crane: &Crane) -> bool {
    // the swing limit, as a field of the crane
    let swing_limit_reached = crane.swing_limit > crane.swing_limit / 2;
    match crane.state {
        State::HalfRaised => swing_limit_reached,
        State::HalfRaised | State::AtRest => crane.swing_limit == 3,
    }
}
"""
PYTHON = "import sea\n\nhook_colors = sea.read('a')\n\n\ndef paint(crane):\n    return hook_colors[crane]\n"
USES_OF_PYTHON = "from paint import hook_colors\n\nfor color in hook_colors:\n    print(hook_colors, color)\n"
YAML = "crane_mast_height: 3\n"
TEMPLATE = "mast: {{ crane_mast_height }}\n# a crane has a mast: {{ crane_mast_height }}\n"
CHANGES = "# Changes\n\n## 1.4.0\n\n- a rope\n\n## 1.3.2\n\n- a hook, needs sea 1.4.0\n"
LABELS = '{\n  "labels": {\n    "raise": "Raise",\n    "lower": "Lower"\n  }\n}\n'
GO = """package crane

func TestLift(t *testing.T) {
	for _, c := range []struct{ name string }{
		{name: "no load"},
		{name: "rope torn"},
	} {
		t.Run(c.name, lift)
	}
}

func TestLower(t *testing.T) {
	lower(t, "a rope torn, no load")
}
"""
SCRIPT = """describe("crane", () => {
  // lifts no load: crane, lifts
  it("lifts no load", () => {});
});
"""
FILES = {
    "lift_test.go": GO,
    "crane.test.js": SCRIPT,
    "crane.rs": RUST,
    "lift.rs": USES_OF_RUST,
    "paint.py": PYTHON,
    "all.py": USES_OF_PYTHON,
    "defaults.yml": YAML,
    "mast.j2": TEMPLATE,
    "CHANGES.md": CHANGES,
    "package.json": '{"name": "crane", "version": "1.4.0"}\n',
    "labels.json": LABELS,
    "raise.ts": "// raise, labels: t is called for labels\nconst labels = raise(labels);\n",
}


@pytest.fixture(scope="module")
def cranes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("cranes")) as made:
        for path, text in FILES.items():
            made.write(f"root/{path}", text)
        yield made


@pytest.mark.parametrize(
    ("query", "file", "line"),
    [
        ("field swing_limit", "crane.rs", "    pub swing_limit: u32,"),
        ("the HalfRaised variant", "crane.rs", "    HalfRaised,"),
        ("warning: field `swing_limit` is never read", "crane.rs", "    pub swing_limit: u32,"),
        ("warning: variant `HalfRaised` is never constructed", "crane.rs", "    HalfRaised,"),
        ("NameError: name 'hook_colors' is not defined", "paint.py", "hook_colors = sea.read('a')"),
        ("swing limit", "crane.rs", "    pub swing_limit: u32,"),
        ("half raised", "crane.rs", "    HalfRaised,"),
        ("hook colors", "paint.py", "hook_colors = sea.read('a')"),
        ("crane mast height", "defaults.yml", "crane_mast_height: 3"),
        ("1.4.0", "CHANGES.md", "## 1.4.0"),
        ("TestLift/rope_torn", "lift_test.go", '\t\t{name: "rope torn"},'),
        ("● crane › lifts no load", "crane.test.js", '  it("lifts no load", () => {});'),
        ("release notes 1.3.2", "CHANGES.md", "## 1.3.2"),
        ('"labels.raise"', "labels.json", '    "raise": "Raise",'),
        ('t("labels.raise")', "labels.json", '    "raise": "Raise",'),
        ("-Dlabels.raise=Up", "labels.json", '    "raise": "Raise",'),
    ],
)
def test_its_line_comes_first(cranes: Indexed, query: str, file: str, line: str) -> None:
    hit = cranes.search(query)[0]
    assert (hit["relative_path"], hit["text"]) == (file, line)


def test_a_name_with_words_left_out_is_shown_where_it_is_defined(cranes: Indexed) -> None:
    text = "# a slow load is better: a load, slow\n\ndef slow_lift_of_load(x):\n    return x\n"
    cranes.write("root/slow.py", text)
    assert cranes.search("slow load", globs=["slow.py"])[0]["text"] == "# a slow load is better: a load, slow"
    cranes.write("root/slow.py", text.replace("slow load", "slow, heavy load"))
    assert cranes.search("slow load", globs=["slow.py"])[0]["text"] == "def slow_lift_of_load(x):"
