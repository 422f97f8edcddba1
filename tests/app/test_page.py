"""The page of `ramify app` in a real browser: the whole way, and what may go wrong on it."""

import csv
import io
import re
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from tests.app.conftest import shell, write_songs

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 740}
PATIENCE = 60_000


class Page:
    """What a person does on the page."""

    def __init__(self, page):
        self.page = page

    def __getattr__(self, name):
        return getattr(self.page, name)

    def open(self, address):
        self.goto(address)
        self.wait_for_selector("html[data-ready]", timeout=PATIENCE)
        return self

    def drop(self, *files):
        """Drop files as from a file manager."""
        given = [{"name": file.name, "text": list(file.read_bytes())} for file in files]
        self.evaluate(
            """(given) => {
              const data = new DataTransfer();
              for (const { name, text } of given) data.items.add(new File([new Uint8Array(text)], name));
              const event = { dataTransfer: data, bubbles: true, cancelable: true };
              document.body.dispatchEvent(new DragEvent("drop", event));
            }""",
            given,
        )

    def looked_at(self, says="row"):
        """Wait until the data have been looked at and the lead says so."""
        self.locator("#columns-lead", has_text=re.compile(says)).wait_for(timeout=PATIENCE)
        return self.inner_text("#columns-lead")

    def give(self, *files, says="row"):
        self.set_input_files("#files", [str(file) for file in files])
        return self.looked_at(says)

    def suggest(self, name):
        self.locator("#suggestions button", has_text=name).first.click()
        self.locator("#target-says", has_text="Read as").wait_for(timeout=PATIENCE)

    def use(self, column, role):
        self.fill("#column-search", column)
        self.get_by_label(f"Use of {column}", exact=True).select_option(role)
        self.locator("#columns[aria-busy]").wait_for(state="attached", timeout=PATIENCE)
        self.locator("#columns:not([aria-busy])").wait_for(timeout=PATIENCE)

    def do(self, command, **options):
        self.locator(f"#commands input[value={command}]").check()
        for name, value in options.items():
            box = self.locator(f"#{command}-{name}")
            if box.evaluate("e => e.tagName") == "SELECT":
                box.select_option(value)
            else:
                box.fill(value)
                box.dispatch_event("change")

    def start(self):
        before = self.locator("#run-list li").count()
        self.click("#start")
        self.locator("#run-list li").nth(before).wait_for(timeout=PATIENCE)

    def run(self, command, **options):
        """Start it, and wait for its end; what the list says of it then."""
        self.do(command, **options)
        self.start()
        return self.over()

    def over(self, number=None):
        row = self.locator("#run-list li" + (".shown" if number is None else f":has(.name:text-matches('^{number} '))"))
        ends = re.compile(r"^(done|failed|cancelled|out of time|interrupted)")
        row.locator(".how", has_text=ends).wait_for(timeout=PATIENCE)
        return row.locator(".how").inner_text()

    def report(self):
        frame = self.frame_locator("#result iframe.report")
        frame.locator("main > section").first.wait_for(timeout=PATIENCE)
        return frame

    def saved(self, name, words="Save"):
        line = self.locator("#result-body > div > .take li", has=self.locator(f"b:text-is('{name}')"))
        with self.expect_download() as download:
            line.get_by_text(words, exact=True).click()
        with open(download.value.path(), "rb") as file:  # noqa: PTH123
            return file.read()

    def command(self):
        part = self.locator("#result details", has_text="The same on the command line").last
        return part.locator("pre").text_content()


@pytest.fixture
def visit(browser):
    """Open pages; at the end nothing may have been logged, thrown, asked or requested from elsewhere."""
    troubles, contexts = [], []

    def open_page(address, *, context=None, expected=(), **options):
        if context is None:
            context = browser.new_context(viewport=DESKTOP, reduced_motion="reduce", **options)
            contexts.append(context)
        page = context.new_page()
        home = address.split("?")[0]
        page.on(
            "console",
            lambda message: None if any(word in message.text for word in expected) else troubles.append(message.text),
        )
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on(
            "request",
            lambda request: None if request.url.startswith((home, "blob:", "data:")) else troubles.append(request.url),
        )
        return Page(page).open(address)

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture
def page(visit, client):
    return visit(client.server.address)


def classes(folder):
    return (write_songs(folder / "songs.csv"),), "genre"


def label_sets(folder):
    return (write_songs(folder / "songs.csv"),), "mood_*"


def hierarchy(folder):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 3)).round(3)
    leaves = np.where(X[:, 0] > 0, np.where(X[:, 1] > 0, "lipids", "sugars"), "transport")
    pd.DataFrame(X, columns=["heat", "salt", "light"]).assign(go=leaves).to_csv(folder / "genes.csv", index=False)
    (folder / "terms.edges").write_text(
        "parent,child\nmetabolism,lipids\nmetabolism,sugars\ncell,metabolism\ncell,transport\n"
    )
    return (folder / "genes.csv", folder / "terms.edges"), "go"


def rankings(folder):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(120, 3)).round(3)
    order = ["tea > milk > beer" if x > 0 else "beer > tea > milk" if z > 0 else "milk > beer > tea" for x, z, _ in X]
    pd.DataFrame(X, columns=["age", "hour", "noise"]).assign(order=order).to_csv(folder / "drinks.csv", index=False)
    return (folder / "drinks.csv",), "order"


@pytest.mark.parametrize("kind", [classes, label_sets, hierarchy, rankings])
def test_the_whole_way(page, tmp_path, kind):
    """From files to a report, a model, an explained row and predictions; files are the command line's to the byte."""
    files, target = kind(tmp_path)
    page.drop(*files)
    page.looked_at("features")
    page.suggest(target)
    assert page.run("rank", trees="10", fdr="20").startswith("done")
    report = page.report()
    report.locator("#tree .pick").first.click()
    assert report.locator("#restricted").is_visible()
    report.locator("#ranking tr:not(.lit) td.feature button").last.click()
    feature = report.locator("#ranking tbody tr").last.get_attribute("data-feature")
    assert report.locator("#ranking tr.lit").get_attribute("data-feature") == feature
    folder = tmp_path / "by hand"
    folder.mkdir()
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    shell(page.command(), folder)
    for written in ("ranking.csv", "ranking.claims.csv"):
        assert page.saved(written) == (folder / written).read_bytes()
    assert pd.read_excel(io.BytesIO(page.saved("ranking.csv", "Save as Excel"))).shape[0] > 1

    assert page.run("fit", method="random-forest", trees="10", folds="2").startswith("done")
    assert page.report().locator("#measures").count() == 1
    page.fill("#explain-row", "2")
    page.click("#result button:text-is('Explain')")
    page.locator("#result figure img.figure").wait_for(timeout=PATIENCE)
    with page.expect_download() as download:
        page.click("#result button:text-is('Save as PNG')")
    assert download.value.suggested_filename == "explained.png"
    assert download.value.path().stat().st_size > 1000
    model = page.saved("model.ramify")

    assert page.run("predict").startswith("done")
    page.locator("#result th", has_text="Prior alone").wait_for()
    assert "has learnt from these rows" in page.inner_text("#result-body")
    page.click("#result button:has-text('Look at predicted.csv')")
    page.locator("#result .cells .cell", has_text=re.compile(r"^(tea|rock|folk|sugars|S0000|1)$")).first.wait_for()
    (folder / "model.ramify").write_bytes(model)
    shell(page.command(), folder)
    assert page.saved("predicted.csv") == (folder / "predicted.csv").read_bytes()


def test_a_messy_table_is_put_right_on_the_page(page, tmp_path):
    """Notes stand beside their columns; roles and kinds that are changed are what the run is given."""
    songs = write_songs(tmp_path / "songs.csv")
    page.give(songs)
    page.fill("#column-search", "shop")
    row = page.locator("#column-grid .row[data-name=shop]")
    assert "the same in every row" in row.inner_text() or "constant" in row.inner_text()
    assert row.locator("select").last.input_value() == "left out"
    page.suggest("genre")
    page.use("price", "left out")
    page.use("released", "groups")
    page.fill("#column-search", "mood_sad")
    page.get_by_label("Kind of mood_sad").select_option("nominal")
    page.looked_at("features")
    page.fill("#column-search", "")
    assert page.run("rank", trees="5", fdr="0").startswith("done")
    assert page.command() == (
        "ramify rank songs.csv --target genre --ignore price --groups released --nominal mood_sad --trees 5 "
        "--fdr none --output ranking.csv --report report.html --verbose"
    )
    names = {row["feature"] for row in csv.DictReader(io.StringIO(page.saved("ranking.csv").decode()))}
    assert {"loud", "fast", "mood_sad"} <= names
    assert not {"price", "released", "shop", "song_id", "genre"} & names


def test_the_demo_is_one_click_away(page):
    page.click("#demo")
    assert page.looked_at("hierarchy").startswith("1,600 rows, 120 features")


def test_claims_are_tested_anew_at_another_error_rate(page, tmp_path):
    page.give(write_songs(tmp_path / "songs.csv"))
    page.suggest("genre")
    page.run("rank", trees="10", fdr="20")
    page.locator("#again-fdr").fill("5")
    page.click("#result button:text-is('Test anew')")
    assert page.over(2).startswith("done")
    assert "--fdr 0.05" in page.command()
    page.locator("#pair .grid.both .row").nth(2).wait_for(timeout=PATIENCE)
    assert page.locator("#pair iframe").count() == 2
    assert re.search(r"claimed in run 1; \d+ features? claimed in run 2; \d+ in both", page.inner_text("#pair-body"))


def test_compare_methods(page, tmp_path):
    page.give(write_songs(tmp_path / "songs.csv"))
    page.suggest("mood_*")
    assert page.run("compare", trees="5", folds="3").startswith("done")
    assert page.report().locator("#comparisons").count() == 1
    assert page.saved("folds.csv").count(b"\n") > 6


def test_a_run_is_watched_cancelled_and_asked_again(page, tmp_path):
    page.give(write_songs(tmp_path / "songs.csv"))
    page.suggest("genre")
    page.do("rank", trees="300000")
    page.start()
    page.locator("#run-list .how", has_text=re.compile(r"Growing trees: [\d,]+ of 300,000 · about .* left")).wait_for(
        timeout=PATIENCE
    )
    page.reload()
    page.locator("#run-list .how", has_text="Growing trees").wait_for(timeout=PATIENCE)
    page.click("button[aria-label='Cancel run 1']")
    assert page.over(1).startswith("cancelled")
    page.click("button[aria-label='Change and run again: run 1']")
    assert page.locator("#rank-trees").input_value() == "300000"
    assert page.run("rank", trees="5", fdr="0").startswith("done")


def test_a_run_that_may_take_no_longer_is_ended(page, tmp_path):
    page.give(write_songs(tmp_path / "songs.csv"))
    page.suggest("genre")
    page.do("rank", trees="300000")
    page.fill("#limit", "0.05")
    page.press("#limit", "Tab")
    page.start()
    assert page.over().startswith("out of time")
    assert "out of time" in page.inner_text("#result-trouble")


def test_a_reload_and_another_tab_go_on(page, visit, client, tmp_path):
    page.give(write_songs(tmp_path / "songs.csv"))
    page.suggest("genre")
    page.use("price", "left out")
    page.run("rank", trees="5", fdr="0")
    other = visit(client.server.address.split("?")[0], context=page.context)
    for tab in (page, other):
        tab.reload()
        tab.wait_for_selector("html[data-ready]")
        tab.looked_at("features")
        assert tab.inner_text("#targets").startswith("genre")
        assert tab.over(1).startswith("done")
        tab.report()
        tab.fill("#column-search", "price")
        assert tab.get_by_label("Use of price").input_value() == "left out"
    other.run("rank", trees="6", fdr="0")
    assert page.over(2).startswith("done")
    page.click("button[aria-label='Remove run 2']")
    other.locator("button[aria-label='Remove run 2']").wait_for(state="detached")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("notes.docx", b"PK\x03\x04 nothing of ours", "no reader is known for .docx"),
        ("empty.csv", b"", "empty"),
        ("fake.xlsx", b"this is no workbook", "fake.xlsx"),
        ("cut.parquet", b"PAR1\x00\x01", "cut.parquet"),
        ("picture.csv", bytes(range(256)) * 40, "picture.csv"),
    ],
)
def test_a_wrong_file_is_told(page, tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    page.drop(tmp_path / name)
    page.locator("#columns-trouble", has_text=re.compile(re.escape(says), re.IGNORECASE)).wait_for(timeout=PATIENCE)
    assert "Traceback" not in page.inner_text("#columns-trouble")
    page.give(write_songs(tmp_path / "songs.csv"), says="features")
    assert page.locator("#columns-trouble").is_hidden()


def test_names_from_data_are_text(page, tmp_path):
    evil = "<img src=x onerror=\"document.title='hacked'\">"
    rows = {f"{evil}{i}": np.arange(60) % (3 + i) for i in range(4)}
    data = pd.DataFrame({**rows, "kind": np.where(np.arange(60) % 3 == 0, evil, "b")})
    file = tmp_path / "evil'&<b>.csv".replace("<b>", "")
    data.to_csv(file, index=False)
    page.give(file)
    page.suggest("kind")
    page.run("rank", trees="5", fdr="0")
    page.report().locator("#tree .pick").first.click()
    page.click("#result button:has-text('Look at ranking.csv')")
    page.locator("#result .cells .cell", has_text="onerror").first.wait_for()
    assert page.title() == "Ramify"
    assert page.locator("img").count() == 0


def test_a_wrong_token_and_a_foreign_page_are_refused(visit, client, browser):
    visit(client.server.address)
    stranger = browser.new_context().new_page()
    home = client.server.address.split("?")[0]
    for address in (home, home + "?token=wrong"):
        assert stranger.goto(address).status == 403
        assert "ramify app printed" in stranger.inner_text("body")
    stranger.context.close()


def test_a_page_of_another_origin_gets_and_changes_nothing(visit, client, tmp_path):
    """As a page of another program on this machine would try, with the cookie of a person who has the page open."""
    page = visit(client.server.address)
    home = client.server.address.split("?")[0]
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "index.html").write_text("<title>other</title>")
    code = """if True:
        from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
        server = ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler)
        print(server.server_port, flush=True)
        server.serve_forever()
    """
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as other:
        try:
            foreign = page.context.new_page()
            foreign.goto(f"http://127.0.0.1:{other.stdout.readline().strip()}/index.html")
            tried = foreign.evaluate(
                """async (home) => {
                  const demo = '{"command":"demo"}', tries = [
                    ["GET", "api/state"], ["POST", "api/runs", demo], ["PUT", "api/files/a.csv", "a"],
                    ["POST", "api/stop"]];
                  const found = [];
                  for (const [method, path, body] of tries) for (const mode of ["cors", "no-cors"]) {
                    try {
                      const answer = await fetch(home + path, { method, body, mode, credentials: "include" });
                      found.push(answer.type === "opaque" ? "opaque" : answer.status);
                    } catch { found.push("blocked"); }
                  }
                  const frame = document.createElement("iframe");
                  frame.src = home;
                  document.body.append(frame);
                  await new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
                  let seen = "blocked";
                  try { seen = frame.contentDocument?.body.innerText || "blocked"; } catch { /* of another origin */ }
                  return [...new Set(found), seen];
                }""",
                home,
            )
        finally:
            other.kill()
    assert set(tried) <= {"blocked", "opaque"}
    state = client.json("GET", "/api/state")
    assert state["files"] == state["runs"] == []


def test_a_killed_server_loses_nothing_that_was_kept(visit, tmp_path):
    songs = write_songs(tmp_path / "songs.csv")

    def served():
        words = [sys.executable, "-m", "ramify", "app", "--no-browser", "--quiet", "--keep", str(tmp_path / "kept")]
        return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)

    with served() as first:
        page = visit(
            first.stdout.readline().strip(),
            expected=["ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE"],
        )
        page.give(songs)
        page.suggest("genre")
        page.run("rank", trees="5", fdr="0")
        ranked = page.saved("ranking.csv")
        page.do("rank", trees="300000")
        page.start()
        page.locator("#run-list .how", has_text="Growing trees").wait_for(timeout=PATIENCE)
        page.wait_for_timeout(600)
        first.send_signal(signal.SIGKILL)
    page.locator("#trouble", has_text="no longer runs").wait_for(timeout=PATIENCE)
    page.close()
    with served() as second:
        again = visit(second.stdout.readline().strip())
        again.looked_at("features")
        assert again.inner_text("#targets").startswith("genre")
        assert again.over(2).startswith("interrupted")
        again.click("button[aria-label='Show run 1']")
        assert again.saved("ranking.csv") == ranked
        again.close()
        second.send_signal(signal.SIGTERM)


def test_the_way_is_done_by_keyboard_alone(page, tmp_path):
    page.give(write_songs(tmp_path / "songs.csv"))

    def tab_to(selector):
        for _ in range(120):
            page.keyboard.press("Tab")
            if page.evaluate("(s) => document.activeElement.matches(s)", selector):
                return
        raise AssertionError(selector)

    tab_to("#suggestions button:nth-of-type(2)")
    page.keyboard.press("Enter")
    page.locator("#targets .pill").wait_for()
    page.locator("#target-says", has_text="Read as").wait_for(timeout=PATIENCE)
    tab_to("#rank-trees")
    page.keyboard.type("5")
    tab_to("#start")
    page.keyboard.press("Enter")
    assert page.over().startswith("done")
    tab_to("#run-list button[aria-label='Show run 1']")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_overflows(visit, client, tmp_path, scheme, size):
    page = visit(client.server.address, color_scheme=scheme)
    page.set_viewport_size(size)
    page.give(write_songs(tmp_path / "songs.csv"))
    page.suggest("genre")
    page.run("rank", trees="5", fdr="0")
    page.report()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(int(c) for c in re.findall(r"\d+", paper)[:3]) / 3
    assert brightness < 60 if scheme == "dark" else brightness > 200


def test_what_is_in_the_page_does_not_grow_with_the_table(page, tmp_path):
    """5,000 features and 500 labels: rows in sight alone are drawn, at the top, in the middle and at the end."""
    rng = np.random.default_rng(0)
    features = pd.DataFrame(rng.normal(size=(30, 5000)).round(2)).add_prefix("gene")
    labels = pd.DataFrame(rng.integers(0, 2, size=(30, 500))).add_prefix("go_")
    features.join(labels).to_csv(tmp_path / "wide.csv", index=False)
    page.give(tmp_path / "wide.csv")
    page.suggest("go_*")
    assert "500 labels" in page.inner_text("#target-says")
    grid = page.locator("#column-grid")
    for share, last in ((0, "gene0"), (0.5, None), (1, "go_499")):
        grid.evaluate("(box, share) => { box.scrollTop = share * box.scrollHeight; }", share)
        page.wait_for_timeout(200)
        names = grid.locator(".row[data-name]").evaluate_all("list => list.map(row => row.dataset.name)")
        assert 5 < len(names) < 40
        assert last is None or last in names
    assert page.evaluate("document.querySelectorAll('*').length") < 5000
