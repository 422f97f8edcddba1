"""The command `ramify demo`: the whole flow on generated data whose truth is known."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ramify.cli.options import output_options, running_options
from ramify.cli.terminal import console, json_text, shows_progress, table

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from ramify.analysis import Results
    from ramify.datasets import Dataset
    from ramify.ranking import FeatureRanking

BRANCHES = {
    "metabolism": ("lipids", "amino-acids", "nucleotides"),
    "transport": ("ions", "proteins", "vesicles"),
    "division": ("growth", "copying", "repair"),
}
STAGES = ("early", "middle", "late")
METHODS = ("genie3_oob", "genie3", "symbolic", "permutation", "relief")
N_ROWS, N_TRAIN, N_FEATURES, N_TREES = 1600, 1100, 120, 100
CURVE_SIZES = (1, 3, 9, 27, 60, 120)
N_STEPS = 6
DATA, REPORT, RANKING = "data.arff", "report.html", "ranking-{}.csv"


@click.command()
@click.option(
    "-o", "--output", "folder", default="ramify-demo", show_default=True, type=click.Path(file_okay=False),
    help="Folder to write to.",
)  # fmt: skip
@click.option("--only-data", is_flag=True, help="Write the data and stop.")
@running_options
@output_options
def demo(folder: str, only_data: bool, seed: int, jobs: int, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Generate data with a known truth, run the whole flow on it and write a report.

    Takes less than a minute. Each step says what it means and which command does it on your own file.

    \b
    Examples:
      ramify demo
      ramify demo -o somewhere --seed 7
    """  # noqa: D301
    from ramify.report import write_report

    started = time.monotonic()
    silent = quiet or as_json
    guide = Guide(console(quiet=silent), Path(folder), verbose=shows_progress(quiet=silent, verbose=verbose))
    _refuse_used(guide.folder)
    guide.folder.mkdir(parents=True, exist_ok=True)
    data = _generate(guide, seed)
    if only_data:
        return
    about = _grow(guide, data, seed, jobs)
    analysed = _rank(guide, data, seed, jobs)
    _check(guide, analysed)
    _show_branches(guide, data, analysed.rankings["genie3_oob"])
    guide.step("Report", "all of it on one page; open it in a browser, no network needed", "rank", "--report", "r.html")
    results = replace(
        analysed,
        dataset=data,
        measures=about.measures,
        measured_on=about.measured_on,
        label_quality=about.label_quality,
        label_baseline=about.label_baseline,
        explained=about.explained,
        explained_on=about.explained_on,
        title="Ramify demo: a hierarchy with planted drivers",
        command=f"ramify demo --seed {seed}",
        seconds=time.monotonic() - started,
    )
    path = write_report(results, guide.folder / REPORT)
    seconds = time.monotonic() - started
    guide.say(f"{path} ({path.stat().st_size / 1e6:.1f} MB), written {seconds:.0f} s after the start")
    if as_json:
        counts = {name: _planted_found(data, ranking) for name, ranking in analysed.rankings.items()}
        n_planted = int(_planted(data).sum())
        n_claims, n_true = _planted_claims(analysed)
        claims = {"claims": n_claims, "planted_claims": n_true}
        click.echo(json_text({"report": str(path), "seconds": seconds, "planted": n_planted, "found": counts} | claims))


def _refuse_used(folder: Path) -> None:
    """Write over nothing that is there: it may be a report or data of the user's own."""
    there = [name for name in (DATA, REPORT, *map(RANKING.format, METHODS)) if (folder / name).exists()]
    if there:
        raise click.UsageError(f"The folder '{folder}' holds {', '.join(there)} already. Name another with -o.")


@dataclass
class Guide:
    """Says what each step means and which command does it on a file of the user's own."""

    terminal: Console
    folder: Path
    verbose: int = 0
    n_steps: int = 0

    def step(self, title: str, meaning: str, *command: str) -> None:
        """Announce a step."""
        from rich.text import Text

        self.n_steps += 1
        name, *options = command
        words = ["ramify", name, str(self.folder / DATA), *options]
        self.terminal.print()
        self.terminal.print(Text.assemble((f"{self.n_steps}/{N_STEPS} {title}", "bold"), f": {meaning}"))
        self.terminal.print(Text("    $ " + " ".join(words), style="dim"))

    def say(self, text: str) -> None:
        """Say what was found."""
        self.terminal.print(f"    {text}", markup=False)


def _generate(guide: Guide, seed: int) -> Dataset:
    """Data with names that a reader can remember, written to a file and read back from it."""
    import numpy as np

    from ramify.datasets import make_hierarchical, read, write_arff
    from ramify.hierarchy import Hierarchy

    guide.step("Generate", "examples with labels from a hierarchy whose drivers are known", "info")
    made = make_hierarchical(
        N_ROWS, n_features=N_FEATURES, depth=3, width=3, label_probability=0.6, noise=0.02, random_state=seed
    )
    names, edges = _label_names(), made.hierarchy.edges  # type: ignore[union-attr]
    hierarchy = Hierarchy([names[name] for name in made.label_names], edges)
    features = tuple(f"gene_{j + 1:03d}" for j in range(made.n_features))
    named = replace(made, hierarchy=hierarchy, label_names=hierarchy.names, feature_names=features)
    write_arff(named, guide.folder / DATA)
    data = read(guide.folder / DATA)
    order = [hierarchy.index(name) for name in data.label_names]
    parts = {"train": np.arange(N_TRAIN), "test": np.arange(N_TRAIN, N_ROWS)}
    data = replace(data, truth=made.truth[:, order], parts=parts)
    n_planted = int(_planted(data).sum())
    guide.say(f"{data.n_samples:,} examples, {data.n_labels} labels; {n_planted} of {data.n_features} features matter")
    return data


def _label_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for first, (branch, parts) in enumerate(BRANCHES.items(), start=1):
        names[f"{first}"] = branch
        for second, part in enumerate(parts, start=1):
            names[f"{first}.{second}"] = f"{branch}/{part}"
            for third, stage in enumerate(STAGES, start=1):
                names[f"{first}.{second}.{third}"] = f"{branch}/{part}/{stage}"
    return names


def _planted(data: Dataset) -> np.ndarray:
    mask: np.ndarray = data.truth.sum(axis=1) > 0
    return mask


def _grow(guide: Guide, data: Dataset, seed: int, jobs: int) -> Results:
    """What a forest of the training rows predicts for the others."""
    from ramify.analysis import fit_model

    text = f"{N_TREES} trees learn all labels at once from {N_TRAIN} examples"
    guide.step("Grow", text, "fit", "--method", "random-forest", "-o", "m.ramify")
    fitted = fit_model(
        data,
        method="random-forest",
        n_estimators=N_TREES,
        explain=True,
        random_state=seed,
        n_jobs=jobs,
        verbose=guide.verbose,
    ).results
    if fitted.measures is not None:
        model, prior = fitted.measures.iloc[0][["model", "prior"]]
        n_test = N_ROWS - N_TRAIN
        guide.say(f"AUPRC on the other {n_test}: {model:.3f}; baseline (label frequencies): {prior:.3f}")
    return fitted


def _rank(guide: Guide, data: Dataset, seed: int, jobs: int) -> Results:
    """Rankings by five methods, tested and measured."""
    from ramify.analysis import analyse
    from ramify.ensemble import ForestClassifier

    guide.step("Rank", "which features matter: four scores of the forest, one of neighbours", "rank", "-o", "r.csv")
    small = ForestClassifier(20, hierarchy=data.hierarchy, random_state=seed, n_jobs=jobs)
    results = analyse(
        data,
        methods=METHODS,
        n_estimators=N_TREES,
        n_neighbors=10,
        quality={"estimator": small, "sizes": CURVE_SIZES, "n_random": 8, "cv": 2},
        random_state=seed,
        n_jobs=jobs,
        verbose=guide.verbose,
    )
    for name, ranking in results.rankings.items():
        ranking.save(guide.folder / RANKING.format(name))
    n_planted = int(_planted(data).sum())
    rows = [(name, one.names[one.order[0]], _planted_found(data, one)) for name, one in results.rankings.items()]
    guide.terminal.print(table("", ["method", "best feature", f"planted among the best {n_planted}"], rows))
    return results


def _planted_found(data: Dataset, ranking: FeatureRanking) -> int:
    """How many planted features are among as many best ones."""
    planted = _planted(data)
    return int(planted[ranking.order[: int(planted.sum())]].sum())


def _check(guide: Guide, results: Results) -> None:
    """Whether the rankings help neighbours, beat random order, and how many claims are planted."""
    guide.step("Check", "do the rankings beat chance?", "rank", "--quality")
    best = max(results.knn_quality, key=lambda name: results.knn_quality[name])
    guide.say(
        f"neighbours weighted by {best}: AUPRC {results.knn_quality[best]:.3f}; unweighted {results.knn_baseline:.3f}"
    )
    own, random = results.curves["genie3_oob"], results.random_curve
    if random is not None:
        size, chance = random.sizes[2], random.values[2]
        guide.say(
            f"a forest of genie3_oob's best {size} features: AUPRC {own.values[2]:.3f}; of {size} random {chance:.3f}"
        )
    n_claims, n_true = _planted_claims(results)
    guide.say(f"{n_claims} discoveries at FDR 10 %; {n_true} of them are planted")


def _planted_claims(results: Results) -> tuple[int, int]:
    """Claims, and those that are true: of a planted driver of the branch, or of a label below it or above it."""
    data = results.dataset
    if results.discoveries is None or data is None or data.hierarchy is None:
        return 0, 0
    names = list(data.feature_names)
    n_true = 0
    for claim in results.discoveries.claims:
        inside = list(data.label_names)
        if claim.branch:
            order = data.hierarchy
            inside = [claim.branch, *order.descendants(claim.branch), *order.ancestors(claim.branch)]
        columns = [data.label_names.index(name) for name in inside]
        members = results.discoveries.groups.get(claim.feature, (claim.feature,))
        rows = [names.index(member) for member in members]
        n_true += bool(data.truth[rows][:, columns].any())
    return len(results.discoveries.claims), n_true


def _show_branches(guide: Guide, data: Dataset, ranking: FeatureRanking) -> None:
    guide.step("Branches", "which features predict which branch of the hierarchy", "rank", "--label", "transport")
    rows = []
    for branch in BRANCHES:
        inside = [j for j, name in enumerate(data.label_names) if name == branch or name.startswith(f"{branch}/")]
        drives = data.truth[:, inside].any(axis=1)
        best = ranking.for_label(branch).order[:4].tolist()
        rows.append((branch, ", ".join(data.feature_names[j] + (" ✓" if drives[j] else "") for j in best)))
    guide.terminal.print(table("", ["branch", "top features (✓ planted there)"], rows))
