"""The command `ramify demo`: the whole flow on generated data whose truth is known."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ramify.cli.options import output_options, running_options
from ramify.cli.terminal import console, json_text, table

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from ramify.datasets import Dataset
    from ramify.ensemble import ForestClassifier
    from ramify.ranking import FeatureRanking, ForestRanker
    from ramify.report import Results
    from ramify.report.results import Curve

BRANCHES = {
    "metabolism": ("lipids", "amino-acids", "nucleotides"),
    "transport": ("ions", "proteins", "vesicles"),
    "division": ("growth", "copying", "repair"),
}
STAGES = ("early", "middle", "late")
SCORES = ("genie3", "symbolic", "permutation", "genie3_oob")
N_ROWS, N_TRAIN, N_FEATURES, N_TREES = 1600, 1100, 120, 100
CURVE_SIZES = (1, 3, 9, 27, 60, 120)
N_STEPS = 6


@click.command()
@click.option(
    "-o", "--output", "folder", default="ramify-demo", show_default=True, type=click.Path(file_okay=False),
    help="Folder to write to.",
)  # fmt: skip
@running_options
@output_options
def demo(folder: str, seed: int, jobs: int, as_json: bool, quiet: bool, verbose: bool) -> None:
    """Generate data with a known truth, run the whole flow on it and write a report.

    Takes less than a minute. Each step says what it means and which command does it on your own file.

    \b
    Examples:
      ramify demo
      ramify demo -o somewhere --seed 7
    """  # noqa: D301
    import numpy as np

    from ramify.report import write_report

    started = time.monotonic()
    guide = Guide(console(quiet=quiet or as_json), Path(folder), verbose=int(verbose and not quiet))
    guide.folder.mkdir(parents=True, exist_ok=True)
    data = _generate(guide, seed)
    train, test = data.rows(np.arange(N_TRAIN)), data.rows(np.arange(N_TRAIN, N_ROWS))
    forest, about = _grow(guide, train, test, seed, jobs)
    rankings = _rank(guide, train, forest, seed, jobs)
    checks = _check(guide, train, test, rankings, seed, jobs)
    _show_branches(guide, train, rankings["genie3"])
    guide.step("Report", "all of it on one page; open it in a browser, no network needed", "rank", "--report", "r.html")
    results = replace(
        about,
        dataset=data,
        rankings=rankings,
        **checks,
        title="Ramify demo: a hierarchy with planted drivers",
        command=f"ramify demo --seed {seed}",
        seed=seed,
        seconds=time.monotonic() - started,
        facts={"Forest": f"random forest of {N_TREES} trees", "Relief": "10 neighbours, all rows"},
    )
    path = write_report(results, guide.folder / "report.html")
    seconds = time.monotonic() - started
    guide.say(f"{path} ({path.stat().st_size / 1e6:.1f} MB), written {seconds:.0f} s after the start")
    if as_json:
        found = {name: _planted_found(train, ranking) for name, ranking in rankings.items()}
        n_planted = int(_planted(data).sum())
        click.echo(json_text({"report": str(path), "seconds": seconds, "planted": n_planted, "found": found}))


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
        words = ["ramify", name, str(self.folder / "data.arff"), *options]
        self.terminal.print()
        self.terminal.print(Text.assemble((f"{self.n_steps}/{N_STEPS} {title}", "bold"), f": {meaning}"))
        self.terminal.print(Text("    $ " + " ".join(words), style="dim"))

    def say(self, text: str) -> None:
        """Say what was found."""
        self.terminal.print(f"    {text}", markup=False)


def _generate(guide: Guide, seed: int) -> Dataset:
    """Data with names that a reader can remember, written to a file and read back from it."""
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
    write_arff(named, guide.folder / "data.arff")
    data = read(guide.folder / "data.arff")
    order = [hierarchy.index(name) for name in data.label_names]
    data = replace(data, truth=made.truth[:, order])
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


def _grow(guide: Guide, train: Dataset, test: Dataset, seed: int, jobs: int) -> tuple[ForestClassifier, Results]:
    """A forest of the training rows, and what the report shows of it."""
    from ramify.ensemble import ForestClassifier
    from ramify.metrics import measure_table
    from ramify.report import Results
    from ramify.report.forests import explained_rows, label_quality

    guide.step(
        "Grow", f"{N_TREES} trees learn all labels at once from {train.n_samples} examples", "fit", "-o", "m.ramify"
    )
    forest = ForestClassifier(N_TREES, hierarchy=train.hierarchy, random_state=seed, n_jobs=jobs, verbose=guide.verbose)
    forest.fit(train.to_frame(), train.y)
    predicted = forest.predict_proba(test.to_frame())
    measures = measure_table(test.y, predicted, target="hierarchy", prior=forest.prior_, hierarchy=train.hierarchy)
    model, prior = measures.iloc[0][["model", "prior"]]
    guide.say(f"AUPRC on the other {test.n_samples}: {model:.3f}; the labels' frequencies alone give {prior:.3f}")
    quality, baseline = label_quality(test.y, predicted)
    about = Results(
        measures=measures,
        measured_on=f"Measured on {test.n_samples} rows that the forest has not seen",
        label_quality=quality,
        label_baseline=baseline,
        explained=explained_rows(forest, test, test.to_frame()),
        explained_on="The forest has not seen these rows.",
    )
    return forest, about


def _rank(guide: Guide, train: Dataset, forest: ForestClassifier, seed: int, jobs: int) -> dict[str, FeatureRanking]:
    from ramify.ranking import ReliefRanker, forest_ranking

    guide.step("Rank", "which features matter: four scores of the forest, one of neighbours", "rank", "-o", "r.csv")
    X = train.to_frame()
    rankings: dict[str, FeatureRanking] = forest_ranking(forest, list(SCORES), X, train.y)
    relief = ReliefRanker(hierarchy=train.hierarchy, random_state=seed, n_jobs=jobs, verbose=guide.verbose).fit(
        X, train.y
    )
    rankings = {**rankings, "relief": relief.ranking_}
    for name, ranking in rankings.items():
        ranking.save(guide.folder / f"ranking-{name}.csv")
    n_planted = int(_planted(train).sum())
    rows = [(name, one.names[one.order[0]], _planted_found(train, one)) for name, one in rankings.items()]
    guide.terminal.print(table("", ["method", "best feature", f"planted among the best {n_planted}"], rows))
    return rankings


def _planted_found(data: Dataset, ranking: FeatureRanking) -> int:
    """How many planted features are among as many best ones."""
    planted = _planted(data)
    return int(planted[ranking.order[: int(planted.sum())]].sum())


def _check(
    guide: Guide, train: Dataset, test: Dataset, rankings: dict[str, FeatureRanking], seed: int, jobs: int
) -> dict[str, Any]:
    """Whether the rankings help neighbours, beat random order and beat shadows of the features."""
    from ramify.ranking import knn_quality, significance

    guide.step("Check", "do the rankings beat chance?", "rank", "--quality")
    X, X_test = train.to_frame(), test.to_frame()
    found = knn_quality(list(rankings.values()), X, train.y, X_test, test.y, hierarchy=train.hierarchy, n_jobs=jobs)
    neighbours = {name: one.weighted for name, one in zip(rankings, found, strict=True)}
    best = max(neighbours, key=lambda name: neighbours[name])
    alike = found[0].unweighted
    guide.say(f"neighbours weighted by {best}: AUPRC {neighbours[best]:.3f}; unweighted {alike:.3f}")
    curves, random = _curves(train, seed, jobs)
    size, own, chance = random.sizes[2], curves["genie3"].values[2], random.values[2]
    guide.say(f"a forest of genie3's best {size} features: AUPRC {own:.3f}; of {size} random ones {chance:.3f}")
    ranker = _forest_ranker("genie3", train, seed, jobs)
    p_values = significance(ranker, X, train.y, method="shadow", n_repeats=10, random_state=seed).p_values
    beating = p_values <= 0.05
    n_planted = int((_planted(train) & beating).sum())
    guide.say(f"{beating.sum()} features beat shuffled copies (p at most 0.05), {n_planted} of them planted")
    return {
        "knn_quality": neighbours,
        "knn_baseline": alike,
        "curves": curves,
        "random_curve": random,
        "p_values": p_values,
    }


def _forest_ranker(score: str, data: Dataset, seed: int, jobs: int) -> ForestRanker:
    from ramify.ensemble import ForestClassifier
    from ramify.ranking import ForestRanker

    forest = ForestClassifier(N_TREES // 2, hierarchy=data.hierarchy, random_state=seed, n_jobs=jobs)
    return ForestRanker(forest, scores=score)


def _curves(data: Dataset, seed: int, jobs: int) -> tuple[dict[str, Curve], Curve]:
    """Curves of added features by every ranking, and by random ones."""
    from ramify.ensemble import ForestClassifier
    from ramify.ranking import ReliefRanker, addition_curve
    from ramify.report.results import Curve

    rankers: dict[str, Any] = {score: _forest_ranker(score, data, seed, jobs) for score in SCORES}
    rankers["relief"] = ReliefRanker(hierarchy=data.hierarchy, random_state=seed, n_jobs=jobs)
    small = ForestClassifier(20, hierarchy=data.hierarchy, random_state=seed, n_jobs=jobs)
    curves: dict[str, Curve] = {}
    for name, ranker in rankers.items():
        found = addition_curve(
            ranker,
            data.X,
            data.y,
            estimator=small,
            sizes=CURVE_SIZES,
            n_random=0 if curves else 8,
            cv=2,
            hierarchy=data.hierarchy,
            random_state=seed,
        )
        curves[name] = Curve(found.sizes, found.values)
        if found.random_mean is not None:
            random = Curve(found.sizes, found.random_mean, found.random_low, found.random_high)
    return curves, random


def _show_branches(guide: Guide, data: Dataset, ranking: FeatureRanking) -> None:
    guide.step("Branches", "which features drive which branch of the hierarchy", "rank", "--label", "transport")
    rows = []
    for branch in BRANCHES:
        inside = [j for j, name in enumerate(data.label_names) if name == branch or name.startswith(f"{branch}/")]
        drives = data.truth[:, inside].any(axis=1)
        best = ranking.for_label(branch).order[:4].tolist()
        rows.append((branch, ", ".join(data.feature_names[j] + (" ✓" if drives[j] else "") for j in best)))
    guide.terminal.print(table("", ["branch", "top features (✓ planted there)"], rows))
