"""What a text refers to leads to its declaration, also where that is written in another form."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from helpers.indexed_folder import LINES, Indexed

FILLER = "".join(f"# a step {number}\n" for number in range(2 * LINES))


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    with Indexed(tmp_path_factory.mktemp("harbour")) as made:
        made.write("root/inputs.tf", f'{FILLER}variable "region" {{\n  default = "north"\n}}\n{FILLER}')
        made.write("root/quay.tf", f'{FILLER}resource "sea_quay" "east" {{\n  depth = 3\n}}\n{FILLER}')
        made.write("root/crane.yaml", "apiVersion: v1\nkind: Service\nmetadata:\n  name: crane\nspec:\n  port: 1\n")
        made.write("root/schema.sql", f"CREATE TABLE boats (\n  id INTEGER\n);\n{'-- a step' * 3}\n")
        made.write("root/routes.rb", f"{FILLER}get '/boats/:id/crew', to: 'boats#crew'\n{FILLER}")
        made.write("root/web.py", f'{FILLER}@app.get("/boats/{{boat}}/sails")\ndef sails(): ...\n{FILLER}')
        made.write("root/web.ts", f"{FILLER}router.post('/boats/sails', hoist);\n{FILLER}")
        made.write("root/app/boats_controller.rb", f"class BoatsController\n  def crew\n    1\n  end\nend\n{FILLER}")
        made.write("root/sea.css", f"{FILLER}.buoy,\n.float {{\n  color: red;\n}}\n{FILLER}")
        made.write("root/app/views/boats/_form.html.erb", "<p>the form</p>\n")
        made.write("root/app/views/boats/edit.html.erb", "<p>to edit</p>\n")
        for number in range(12):
            made.write(
                f"root/client{number}.py", 'client.get("/boats/{boat}/sails")\nclient.post("/boats/sails")\n' * 3
            )
            made.write(
                f"root/page{number}.html", f'<p class="red buoy" id="form{number}">render boats form, edit</p>\n'
            )
            made.write(f"root/use{number}.tf", f"a{number} = var.region\nb = var.region\nc = sea_quay.east.id\n" * 3)
            made.write(f"root/crane{number}.md", f"The service crane {number}: svc/crane is a service, crane.\n" * 3)
            made.write(
                f"root/boats{number}.rb", f"# the table boats, boats table {number}, boats crew boats#crew\n" * 3
            )
            made.write(f"root/crew{number}.md", f"Crews {number} of boats, 42 crew and boats 42 crew: boats.\n" * 3)
        yield made


@pytest.mark.parametrize(
    ("query", "path", "line"),
    [
        ("var.region", "inputs.tf", 'variable "region"'),
        ("${var.region}", "inputs.tf", 'variable "region"'),
        ("sea_quay.east.id", "quay.tf", '"sea_quay" "east"'),
        ("svc/crane", "crane.yaml", "name: crane"),
        ("service crane", "crane.yaml", "name: crane"),
        ("table boats", "schema.sql", "CREATE TABLE boats"),
        ("SELECT * FROM boats", "schema.sql", "CREATE TABLE boats"),
        ("/boats/42/crew", "routes.rb", "/boats/:id/crew"),
        ("GET /api/boats/42/crew", "routes.rb", "/boats/:id/crew"),
        ("/boats/{boat}/sails", "web.py", "@app.get"),
        ("GET /boats/{boat}/sails", "web.py", "@app.get"),
        ("/boats/sails", "web.ts", "router.post"),
        ("post /boats/sails", "web.ts", "router.post"),
        ("boats#crew", "app/boats_controller.rb", "def crew"),
        ('class="buoy"', "sea.css", ".buoy,"),
        ("render 'boats/form', boat: b", "app/views/boats/_form.html.erb", "the form"),
        ('<%= render partial: "boats/form" %>', "app/views/boats/_form.html.erb", "the form"),
        ("boats/edit", "app/views/boats/edit.html.erb", "to edit"),
    ],
)
def test_a_reference_leads_to_its_declaration(harbour: Indexed, query: str, path: str, line: str) -> None:
    hit = harbour.search(query)[0]
    assert (hit["relative_path"], line in hit["snippet"]) == (path, True)


def test_a_page_that_quotes_a_declaration_comes_behind_it(harbour: Indexed) -> None:
    harbour.write("root/README.md", "# crane\n\n```yaml\nkind: Service\nmetadata:\n  name: crane\n```\n" * 3)
    assert harbour.found("svc/crane")[0] == "crane.yaml"


def test_a_file_with_the_request_as_typed_comes_first(harbour: Indexed) -> None:
    harbour.write("root/report.py", f'{FILLER}rows = run("SELECT * FROM boats")\n{FILLER}')
    assert harbour.found("SELECT * FROM boats")[0] == "report.py"


def test_an_action_without_a_controller_is_a_member(harbour: Indexed) -> None:
    harbour.write("root/boom.rb", f"{FILLER}class Boom\n  def lift\n    1\n  end\nend\n")
    answer = harbour.ask("boom#lift")
    assert (answer.hits[0]["relative_path"], "did_you_mean" in answer.extras) == ("boom.rb", False)
