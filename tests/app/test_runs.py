"""Runs are the commands of the command line: the same bytes, watched, stopped and remembered."""

import csv
import json
import re
import subprocess
import sys
import time
from pathlib import Path

import openpyxl
import pytest
from tests.app.conftest import shell

from ramify.report.page import json_for_script

TREES = {"trees": 10, "fdr": "0.2"}
VOLATILE = re.compile(rb"\d+(\.\d+)? s\b|\"Time\",\"[^\"]*\"|<dd>[\d.]+ s</dd>")


def without_time(report):
    return VOLATILE.sub(b"", report)


@pytest.mark.parametrize("target", [["genre"], ["mood_*"]])
def test_the_shown_command_gives_the_same_bytes(client, songs, tmp_path, target):
    client.give(songs)
    run = client.run("rank", "songs.csv", target=target, options=TREES, reading={"ignore": ["shop"], "dates": "dmy"})
    assert run["state"] == "done", run["message"]
    folder = tmp_path / "by hand"
    folder.mkdir()
    (folder / "songs.csv").write_bytes(songs.read_bytes())
    printed = shell(run["command"], folder)
    assert printed.decode() == run["result"]
    written = {path.name for path in folder.iterdir()} - {"songs.csv"}
    assert {file["name"] for file in run["files"]} == written
    for name in sorted(written):
        mine, own = client.ask("GET", f"/api/runs/{run['id']}/file/{name}")[2], (folder / name).read_bytes()
        assert without_time(mine) == without_time(own), name
        if name != "report.html":
            assert mine == own


def test_the_shown_code_gives_the_same_data(client, songs, tmp_path):
    client.give(songs)
    ranked = client.run("rank", "songs.csv", target=["genre"], options=TREES)
    fitted = client.run("fit", "songs.csv", target=["genre"], options={"method": "random-forest", "trees": "10"})
    for run, name in ((ranked, "ranking.csv"), (ranked, "ranking.claims.csv"), (fitted, "model.ramify")):
        folder = tmp_path / run["id"]
        folder.mkdir(exist_ok=True)
        (folder / "songs.csv").write_bytes(songs.read_bytes())
        subprocess.run([sys.executable, "-c", run["code"]], cwd=folder, check=True, capture_output=True)
        assert client.ask("GET", f"/api/runs/{run['id']}/file/{name}")[2] == (folder / name).read_bytes()


def test_predicting_and_explaining_with_a_model_of_a_run(client, songs, tmp_path):
    client.give(songs)
    fitted = client.run("fit", "songs.csv", target=["genre"], options={"trees": 10, "folds": 2})
    model = {"model": "model.ramify", "model_of": fitted["id"]}
    predicted = client.run("predict", "songs.csv", options={"report": True}, **model)
    assert predicted["state"] == "done", predicted["message"]
    assert "accuracy" in json.loads(predicted["result"])["measures"]
    assert {file["name"] for file in predicted["files"]} == {"predicted.csv", "report.html"}
    lines = client.ask("GET", f"/api/runs/{predicted['id']}/file/predicted.csv")[2].decode().splitlines()
    assert lines[0] == "song_id,genre"
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "songs.csv").write_bytes(songs.read_bytes())
    (folder / "model.ramify").write_bytes(client.ask("GET", f"/api/runs/{fitted['id']}/file/model.ramify")[2])
    code = predicted["code"] + "print('\\n'.join(map(str, predicted)))"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    assert printed.split() == [line.split(",")[1] for line in lines[1:]]
    explained = client.run("explain", "songs.csv", options={"row": "S0003"}, **model)
    assert explained["state"] == "done", explained["message"]
    assert json.loads(explained["result"])[0]["features"]
    status, headers, _ = client.ask("GET", f"/api/runs/{explained['id']}/view/explained.svg")
    assert status == 200
    assert headers["Content-Security-Policy"].startswith("sandbox")


def test_the_inspection_is_that_of_info_with_suggestions(client, songs):
    client.give(songs)
    run = client.run("info", "songs.csv")
    found = client.json("GET", f"/api/runs/{run['id']}/inspection")
    assert {**found, "suggestions": None} == {**json.loads(run["result"]), "suggestions": None}
    assert [one["target"] for one in found["suggestions"]] == [["mood_*"], ["genre"], ["price"]]
    record = {column["name"]: column for column in found["columns"]}
    assert record["song_id"]["role"] == "identifier"
    assert record["shop"]["role"] == "left out"


def test_parts_of_one_data_set_are_inspected_together(client, tmp_path):
    lines = "@relation r\n@attribute x numeric\n@attribute y {a,b}\n@data\n" + "".join(
        f"{i},{'a' if i % 3 else 'b'}\n" for i in range(30)
    )
    for part in ("train", "test"):
        (tmp_path / f"toy.{part}.arff").write_text(lines)
        client.give(tmp_path / f"toy.{part}.arff")
    run = client.run("info", "toy.train.arff", "toy.test.arff")
    found = client.json("GET", f"/api/runs/{run['id']}/inspection")
    assert found["rows"] == 60
    assert found["parts"] == {"train": 30, "test": 30}


def test_roles_that_are_changed_are_options(client, songs):
    client.give(songs)
    reading = {"keep": ["shop"], "ignore": ["price"], "groups": "song_id", "categorical": ["mood_sad"]}
    run = client.run("info", "songs.csv", target=["genre"], reading=reading)
    found = {column["name"]: column for column in json.loads(run["result"])["columns"]}
    assert found["shop"]["role"] == "feature"
    assert found["price"]["role"] == "left out"
    assert found["song_id"]["role"] == "groups"
    assert found["mood_sad"]["kind"] == "nominal"


def test_a_table_without_a_usable_last_column_is_inspected(client, tmp_path):
    rows = "\n".join(f"{i % 3},{'a' if i % 2 else 'b'},img{i:04d}.png" for i in range(40))
    (tmp_path / "films.csv").write_text(f"stars,kind,picture\n{rows}\n")
    client.give(tmp_path / "films.csv")
    run = client.run("info", "films.csv")
    assert run["state"] == "done", run["message"]
    assert any("No target" in note for note in json.loads(run["result"])["notes"])


def test_a_wrong_file_is_told_in_the_commands_words(client):
    client.json("PUT", "/api/files/notes.docx", b"PK\x03\x04 nothing of ours")
    run = client.run("info", "notes.docx")
    assert run["state"] == "failed"
    assert "no reader is known for .docx" in run["message"]
    assert "Traceback" not in run["message"]


def test_a_run_is_cancelled_with_all_that_it_started(client, songs):
    client.give(songs)
    run = client.run("rank", "songs.csv", target=["genre"], options={"trees": 200000}, wait=False)
    client.wait(run["id"], {"running"})
    while not client.json("GET", f"/api/runs/{run['id']}")["n_steps"]:
        time.sleep(0.1)
    process = client.server.runs._processes[run["id"]]
    client.json("POST", f"/api/runs/{run['id']}/cancel")
    over = client.wait(run["id"])
    assert over["state"] == "cancelled"
    assert process.poll() is not None
    assert over["step"] == "Growing trees"
    client.json("DELETE", f"/api/runs/{run['id']}")
    assert client.json("GET", "/api/state")["runs"] == []


def test_a_run_ends_when_its_time_is_over(client, songs):
    client.give(songs)
    run = client.run("rank", "songs.csv", target=["genre"], options={"trees": 200000}, minutes=0.05)
    assert run["state"] == "out of time"


def test_heavy_runs_wait_for_each_other_and_quick_ones_do_not(client, songs):
    client.give(songs)
    first = client.run("rank", "songs.csv", target=["genre"], options={"trees": 200000}, wait=False)
    second = client.run("rank", "songs.csv", target=["genre"], options=TREES, wait=False)
    client.wait(first["id"], {"running"})
    assert client.run("info", "songs.csv")["state"] == "done"
    assert client.json("GET", f"/api/runs/{second['id']}")["state"] == "waiting"
    client.json("POST", f"/api/runs/{second['id']}/cancel")
    client.json("POST", f"/api/runs/{first['id']}/cancel")
    assert client.wait(second["id"])["state"] == "cancelled"
    assert client.wait(second["id"])["started"] is None


def test_a_kept_folder_goes_on_where_a_killed_server_ended(serving, tmp_path, songs):
    with serving(tmp_path / "kept") as client:
        client.give(songs)
        done = client.run("info", "songs.csv")
        client.json("PUT", "/api/choices", {"target": ["genre"]})
        running = client.run("rank", "songs.csv", target=["genre"], options={"trees": 200000}, wait=False)
        client.wait(running["id"], {"running"})
        record = tmp_path / "kept" / "runs" / running["id"] / ".run.json"
        as_killed = record.read_bytes()
    record.write_bytes(as_killed)  # a server that is killed writes nothing more
    with serving(tmp_path / "kept") as client:
        state = client.json("GET", "/api/state")
        assert {run["id"]: run["state"] for run in state["runs"]} == {done["id"]: "done", running["id"]: "interrupted"}
        assert "Run it again" in client.json("GET", f"/api/runs/{running['id']}")["message"]
        assert client.json("GET", "/api/choices") == {"target": ["genre"]}
        assert [file["name"] for file in state["files"]] == ["songs.csv"]
        assert client.json("GET", f"/api/runs/{done['id']}")["result"] == done["result"]


def test_a_run_ends_when_its_server_is_killed(tmp_path, songs):
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[2])\n"
        "from conftest import served\n"
        "with served(sys.argv[1]) as client:\n"
        "    client.give(sys.argv[3])\n"
        "    run = client.run('rank', 'songs.csv', target=['genre'], options={'trees': 200000}, wait=False)\n"
        "    while not client.json('GET', '/api/runs/' + run['id'])['n_steps']: time.sleep(0.1)\n"
        "    print(client.server.runs._processes[run['id']].pid, flush=True); time.sleep(600)\n"
    )
    place = [str(tmp_path / "kept"), str(Path(__file__).parent), str(songs)]
    server = subprocess.Popen([sys.executable, "-c", code, *place], stdout=subprocess.PIPE, text=True)
    child = Path("/proc") / server.stdout.readline().strip()
    if not child.parent.is_dir():
        pytest.skip("there is no /proc")
    assert child.exists()
    server.kill()
    server.wait()
    server.stdout.close()
    end = time.monotonic() + 20
    while child.exists() and "Z" not in (child / "stat").read_text().split()[2] and time.monotonic() < end:
        time.sleep(0.1)
    assert not child.exists() or "Z" in (child / "stat").read_text().split()[2]


def test_a_file_that_is_given_again_leaves_earlier_runs_alone(client, songs, tmp_path):
    client.give(songs)
    run = client.run("info", "songs.csv")
    before = client.ask("GET", f"/api/runs/{run['id']}/file/songs.csv")[2]
    client.json("PUT", "/api/files/songs.csv", b"a;b\n1;2\n")
    assert client.ask("GET", f"/api/runs/{run['id']}/file/songs.csv")[2] == before == songs.read_bytes()
    client.json("DELETE", "/api/files/songs.csv")
    assert client.ask("GET", f"/api/runs/{run['id']}/file/songs.csv")[2] == before


def test_the_demo_is_given_and_ranked(client):
    run = client.run("demo")
    assert run["state"] == "done", run["message"]
    assert client.json("POST", f"/api/runs/{run['id']}/give")["names"] == ["data.arff"]
    found = json.loads(client.run("info", "data.arff")["result"])
    assert (found["rows"], found["features"], found["target"]) == (1600, 120, "hierarchy")


def test_hostile_names_stay_in_the_sandbox(client, tmp_path):
    evil = "</script><script>alert(1)</script>"
    rows = "\n".join(f"{i % 7},{i % 5},{'<img src=x onerror=alert(1)>' if i % 2 else 'b'}" for i in range(120))
    (tmp_path / "evil.csv").write_text(f'"{evil}",x,kind\n{rows}\n')
    client.give(tmp_path / "evil.csv")
    run = client.run("rank", "evil.csv", target=["kind"], options={"trees": 5, "fdr": "none"})
    assert run["state"] == "done", run["message"]
    _, headers, body = client.ask("GET", f"/api/runs/{run['id']}/view/report.html")
    assert headers["Content-Security-Policy"].startswith("sandbox allow-scripts allow-downloads;")
    assert evil.encode() not in body
    assert json_for_script({"a": evil}).count("<") == 0


def test_tables_are_sent_in_slices_and_as_sheets(client, songs, tmp_path):
    client.give(songs)
    run = client.run("rank", "songs.csv", target=["genre"], options={"trees": 5, "fdr": "none"})
    part = client.json("GET", f"/api/runs/{run['id']}/table/ranking.csv?row=1&n_rows=2&column=0&n_columns=2")
    whole = client.ask("GET", f"/api/runs/{run['id']}/file/ranking.csv")[2].decode().splitlines()
    rows = list(csv.reader(whole))
    assert part["rows"] == [row[:2] for row in rows[2:4]]
    status, headers, body = client.ask("GET", f"/api/runs/{run['id']}/sheet/ranking.csv")
    assert status == 200
    assert "ranking.xlsx" in headers["Content-Disposition"]
    (tmp_path / "sheet.xlsx").write_bytes(body)
    cells = list(openpyxl.load_workbook(tmp_path / "sheet.xlsx").active.values)
    assert len(cells) == len(rows)
    assert [str(cell) for cell in cells[0]] == rows[0]
    numbers = [cell for cell in cells[1] if isinstance(cell, (int, float))]
    assert numbers
    assert client.ask("GET", f"/api/runs/{run['id']}/table/report.html?row=0")[0] == 400
    assert client.ask("GET", f"/api/runs/{run['id']}/table/ranking.csv?row=x")[0] == 400
