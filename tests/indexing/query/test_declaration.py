"""What declares what a reference, a path of a web application or a table names."""

from __future__ import annotations

import pytest

from livedex_indexing.query.declaration import declarations


@pytest.mark.parametrize(
    ("text", "declared"),
    [
        ("var.lamp", 'variable "lamp" {'),
        ("${var.lamp}", 'variable "lamp" {'),
        ("module.lamp.oil_id", 'module "lamp" {'),
        ("output.lamp", 'output "lamp" {'),
        ("local.lamp", 'locals {\n  oil  = 1\n  lamp = "x"\n}'),
        ("data.sea_lamp.red.id", 'data "sea_lamp" "red" {'),
        ("sea_lamp.red[0].id", 'resource "sea_lamp" "red" {'),
        ('module.sea.sea_lamp.red["oil"]', 'resource "sea_lamp" "red" {'),
        ("module.sea[0].module.deck.data.sea_lamp.red.id", 'data "sea_lamp" "red" {'),
        ("  # module.sea.sea_lamp.red[0] will be created", 'resource "sea_lamp" "red" {'),
        ("module.sea.sea_lamp.red: Still creating... [10s elapsed]", 'resource "sea_lamp" "red" {'),
        ("with sea_lamp.red,\n  on main.tf line 3:", 'resource "sea_lamp" "red" {'),
        ("terraform apply -target=module.sea.sea_lamp.red", 'resource "sea_lamp" "red" {'),
        ("tofu state rm 'sea_lamp.red[0]'", 'resource "sea_lamp" "red" {'),
        ("terraform plan -var 'lamp=3' -out x", 'variable "lamp" {'),
        ("export TF_VAR_lamp=3", 'variable "lamp" {'),
        ("svc/lamp", "kind: Service\nmetadata:\n  labels:\n    a: b\n  name: lamp\n"),
        ("deployment lamp", "apiVersion: v1\nkind: Deployment\nmetadata:\n  name: 'lamp'\n"),
        ("lamp configmap", "kind: ConfigMap\nmetadata:\n  name: lamp\n"),
        ("service lamp", "services:\n  oil:\n    image: a\n\n  # red\n  lamp:\n    image: b\n"),
        ("table lamps", "CREATE TABLE IF NOT EXISTS lamps ("),
        ("lamps table", "create table `lamps` ("),
        ("SELECT * FROM lamps", "  create_table :lamps do"),
        ("insert into lamps", "CREATE TABLE sea.lamps ("),
        ("/lamps/42", "get '/lamps/:id'"),
        ("/lamps/42/", "path('lamps/<int:pk>/', Lamps.as_view())"),
        ("GET /lamps/42/edit?a=b", '@GetMapping("/lamps/{lampId}/edit")'),
        ("/api/v1/lamps/42", "@app.get('/lamps/{lamp}')"),
        ("/api/lamps/9f8b7c6d/oils/7", "  /lamps/{id}/oils/{oilId}:"),
        ('class="lamp red"', "a > b .lamp:hover {"),
        ("className={'lamp'}", ".lamp,\n.oil {"),
        ('<li id="x" class="red lamp">', ".lamp {"),
        ("li.lamp", "ul .lamp {"),
        (".lamp:hover", ".lamp {"),
        ('Started POST "/api/lamps/oil" for ::1 at 2026-01-01', '  post "/lamps/oil", to: "lamps#oil"'),
        ("GET /lamps", 'mux.HandleFunc("/lamps", lamps) // GET'),
        ("curl -X DELETE https://sea.example/lamps/oil?a=b", '    [HttpDelete("lamps/oil")]'),
        ("[GET] /lamps/42 500", "get '/lamps/:id'"),
        ("/lamps/{id}/edit", '  @GetMapping("/lamps/{id}/edit")'),
        ("GET /lamps/{id}", '@GetMapping(path = "/lamps/{id}")'),
        ("/lamps/new", '    @PostMapping(value = { "/lamps/new", "/lamps/add" })'),
        ("/lamps/<int:pk>/", "    path('lamps/<int:pk>/', Lamps.as_view()),"),
        ("/lamps/oil", '@app.route("/lamps/oil", methods=["GET"])'),
        ("/lamps", "app.get('/lamps', async (req, res) => {"),
        ("/lamps", '\t\tm.Group("/lamps", func() {'),
        ("/lamps", 'router = APIRouter(prefix="/lamps")'),
        ("/lamps/:id", 'r.Route("/lamps/:id").Get(lamp)'),
        ("/lamps/{lamp}", "Route::get('lamps/{lamp}', [Lamps::class, 'show']);"),
        ("/lamps/{id}", 'app.MapGet("/lamps/{id}", (int id) => lamps[id]);'),
        ("/lamps/{id}", '    #[get("/lamps/{id}")]'),
        ("/lamps/oil", 'get "/lamps/oil" => "lamps#oil"'),
        ("--dry-run", 'parser.add_argument("-n", "--dry-run", action="store_true")'),
        ("unknown flag: --dry-run", 'cmd.Flags().BoolVarP(&opts.DryRun, "dry-run", "n", false, "do nothing")'),
        ("lamp oil --dry-run=1", 'opts.on("-n", "--dry-run", "Do nothing")'),
        ("1.2.3", "## 1.2.3"),
        ("v1.2", "Lamp v1.2 (2026-01-01)"),
        ("what's new in version 1.2.3", "### [1.2.3] - 2026-01-01"),
        ("release notes 1.2", "# Lamp 1.2 release notes"),
        ("upgrade to 1.2.0rc1", "1.2.0rc1: oil"),
        ('id="lamp"', "#lamp {"),
        ("var(--lamp-oil)", "  --lamp-oil: 1px;"),
        ("var(--lamp-oil, 2px)", ":root { --red: 1; --lamp-oil : 1px }"),
        ("@include lamp-oil($red);", "@mixin lamp-oil($a) {"),
        ("{% url 'sea:lamp-edit' lamp.id %}", 'path("lamps", edit, name="lamp-edit")'),
        ('reverse("lamp", args=[1])', "re_path(r'^lamps$', lamps, name='lamp'),"),
    ],
)
def test_the_line_that_declares_it_is_known(text: str, declared: str) -> None:
    assert any(all(line.search(declared) for line in one.lines) for one in declarations(text))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("var.lamp", 'variable "lamps" {'),
        ("svc/lamp", "kind: Service\nmetadata:\n  name: lamp-2\n"),
        ("var(--lamp)", "  --lamp-oil: 1px;"),
        ("var(--lamp)", "  width: var(--lamp);"),
        ("width: var(--lamp)", "  --lamp: 1px;"),  # a line that was pasted
        ("@include lamp", "@mixin lamp-oil {"),
        ("svc/lamp", "kind: Service\nspec:\n  name: lamp\n"),
        ("table lamps", "CREATE TABLE lamps_old ("),
        ("/lamps/42", "get '/lamps/:id/edit'"),
        ("/lamps/42", "see lamps/42"),
        ('class="lamp"', ".lamps {"),
        ('class="lamp"', "$('.lamp').each(function() {"),
        ("redirect('lamp')", "name='lamps'"),
        ("GET /lamps", 'post "/lamps"'),
        ("GET /lamps", 'get "/lamps/oil"'),
        ("--dry-run", 'cmd.Flags().BoolVar(&opts.Long, "dry-run-long", false, "")'),
        ("--dry-run", "run('lamp --dry-run')"),
        ("v1.2", "## 1.2.3"),
        ("v1.2", "## 1.2-lamp"),
        ("1.2.3", "needs lamp of at least 1.2.3"),
        ("li.lamp", "ul .lamps {"),
        ("/lamps/new", 'client.get("/lamps/new")'),
        ("/lamps/new", 'mockMvc.perform(get("/lamps/new"))'),
        ("/lamps/new", 'r = client.post("/lamps/new", json={})'),
        ("/lamps/new", '  get "/lamps/new", params: { id: 1 }'),
        ("/lamps/new", 'return "redirect:/lamps/new";'),
        ("/lamps/new", "app.get('/lamps/newest', newest)"),
        ("/lamps/new", 'with app.get("/lamps/new", headers={}) as r:'),
        ("POST /lamps", '@GetMapping("/lamps")'),
    ],
)
def test_another_line_does_not_declare_it(text: str, other: str) -> None:
    assert not any(all(line.search(other) for line in one.lines) for one in declarations(text))


@pytest.mark.parametrize(
    "text",
    [
        "lamp",
        "lamp.red",
        "Lamp.red_oil",
        "the lamp of a service",
        "lamps/42",
        "lamp.oil",
        ".lamp.oil",
        "127.0.0.1",
        "the lamp of 1.2",
        "/42",
        "tofu plan",
        "",
    ],
)
def test_most_texts_refer_to_nothing(text: str) -> None:
    assert list(declarations(text)) == []
