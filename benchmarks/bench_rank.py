"""Where the time of `ramify rank` goes, from the start of the process to the last file.

    python benchmarks/bench_rank.py DATA... [--before PAGE] [-o PAGE]

CPU seconds by stage of one run with `--jobs 1`, claims, CSV files and JSON. A redraw model is the distribution of a
feature given all others, which the tests draw from. Before is what another build printed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import platform
import tempfile
import time
from pathlib import Path
from typing import Any

STAGES = {
    "ramify.ranking.discovery.units.column_model": "redraw models of the features",
    "ramify.ranking.discovery.survey._grown": "forests of the tests",
    "ramify.ranking.discovery.survey._tested": "tests",
    "ramify.analysis.flow._rankings": "forest and scores of the ranking",
    "ramify.cli.inputs.read_data": "reading",
    "ramify.cli.rank_output.write_rankings": "writing CSV files",
    "ramify.cli.rank_output.ranked_content": "what JSON says",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+")
    parser.add_argument("--before", type=Path, default=None, help="what this printed with another build")
    parser.add_argument("-o", "--output", type=Path, default=None)
    arguments = parser.parse_args()
    load, seconds = os.getloadavg()[0], {}
    import importlib

    for path, stage in STAGES.items():
        module, _, name = path.rpartition(".")
        watch(importlib.import_module(module), name, stage, seconds)
    seconds["starting Python and importing"] = time.process_time()
    from ramify.cli.main import main as ramify

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        wanted = ["-o", f"{folder}/ranking.csv", "--json", "--seed", "0", "--jobs", "1"]
        with contextlib.suppress(SystemExit):
            ramify(["rank", *arguments.data, *wanted])
    total = time.process_time()
    seconds["all else"] = total - sum(seconds.values())
    name = Path(arguments.data[0]).name.split(".")[0]
    lines = ["# ramify rank from start to end\n", *__doc__.strip().split("\n\n")[2].split("\n"), ""]
    lines += [f"{name}, Python {platform.python_version()}, load before the run {load:.1f}.\n"]
    seconds["all"] = total
    before = {} if arguments.before is None else earlier(arguments.before.read_text(encoding="utf-8"))
    lines += ["| stage | before | CPU seconds | share |", "|---|---|---|---|"]
    for stage in sorted(seconds, key=lambda stage: seconds[stage]):
        share = f"{100 * seconds[stage] / total:.1f} %"
        lines.append(f"| {stage} | {before.get(stage, '')} | {seconds[stage]:.2f} | {share} |")
    text = "\n".join(lines) + "\n"
    print(text)
    if arguments.output is not None:
        arguments.output.write_text(text, encoding="utf-8")


def earlier(page: str) -> dict[str, str]:
    """CPU seconds by stage of a page."""
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    return {row[0]: row[-2] for row in rows[1:]}


def watch(module: Any, name: str, stage: str, seconds: dict[str, float]) -> None:
    """Count the CPU seconds of a function, without those of stages inside it."""
    function = getattr(module, name)

    def watched(*args: Any, **kwargs: Any) -> Any:
        start, inside = time.process_time(), sum(seconds.values())
        try:
            return function(*args, **kwargs)
        finally:
            own = time.process_time() - start - (sum(seconds.values()) - inside)
            seconds[stage] = seconds.get(stage, 0.0) + own

    setattr(module, name, watched)


if __name__ == "__main__":
    main()
