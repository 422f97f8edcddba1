"""What `ramify rank` prints and writes: what predicts what, the top features, quality."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ramify.analysis import Results
from ramify.analysis.first_table import (
    MARKS,
    MEANINGS,
    STANDINGS,
    associated_sentences,
    beside,
    branch_sentences,
    discovery_count,
    unclaimed_reasons,
    untested,
)
from ramify.analysis.methods import IN_BAG, branch_credit
from ramify.cli.inputs import described
from ramify.cli.terminal import bar, console, packed, plain, say, show, table
from ramify.datasets.term_names import titled
from ramify.ranking import Claim, FeatureRanking, group_frame, subtree_groups
from ramify.ranking.discovery import plain_discoveries
from ramify.shown import cut_name, shown_number, shown_p
from ramify.writing import neutralised, whole_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table

    from ramify.datasets import Dataset

_BAR = 20
_TOPS = 3
_WIDEST = 34
"""Characters of a label or a feature in a table; longer names are cut in the middle, files have them whole."""

_STYLES = {"claimed": "bold green", "associated": "", "ranked": "dim"}


def files_beside(path: str | Path, methods: Iterable[str]) -> list[Path]:
    """All files that `write_rankings` may write beside `path`, for rankings by these methods, the first one's there."""
    rankings = [_ranking_file(path, number, method) for number, method in enumerate(dict.fromkeys(methods))]
    branches = [_branches_file(file) for file in rankings or [Path(path)] if file.suffix == ".csv"]
    return [*rankings[1:], *branches, _claims_file(path)]


def _ranking_file(path: str | Path, number: int, method: str) -> Path:
    own = Path(path)
    return own if number == 0 else own.with_name(f"{own.stem}.{method}{own.suffix}")


def _branches_file(ranking: Path) -> Path:
    return ranking.with_name(f"{ranking.stem}.branches.csv")


def _claims_file(path: str | Path) -> Path:
    own = Path(path)
    return own.with_name(f"{own.stem}.claims{'.json' if own.suffix == '.json' else '.csv'}")


def write_rankings(results: Results, path: str) -> list[str]:
    """Write the first ranking to `path`, the others and the claims beside it; return all paths.

    A CSV file has the features; their scores per branch go to a long table beside it, since a hierarchy may have
    thousands of branches. JSON and .fimp keep everything in one file.
    """
    written = []
    for number, (method, ranking) in enumerate(results.rankings.items()):
        file = _ranking_file(path, number, method)
        if file.suffix == ".csv" and ranking.per_label is not None:
            FeatureRanking(ranking.names, ranking.scores, origin=ranking.origin).save(file)
            written += [str(file), str(_branches_file(file))]
            _write_branches(results, ranking, _branches_file(file))
        else:
            ranking.save(file)
            written.append(str(file))
    if results.discoveries is not None:
        written.append(str(_claims_file(path)))
        results.discoveries.save(written[-1])
    return written


def _write_branches(results: Results, ranking: FeatureRanking, path: Path) -> None:
    """Lines feature, branch, score, p, q of claims and of all scores above zero, best first within a branch."""
    scores = sparse.csc_array(ranking.branch_scores())
    has_claims = results.discoveries is not None
    with whole_text(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        head = ["feature", "branch", "score", *(["p", "q"] if has_claims else [])]
        writer.writerow([*head, *(["branch_name"] if results.titles else [])])
        for column, branch in enumerate(ranking.label_names):
            claims = results.claims_of(branch) or {}
            cells = slice(scores.indptr[column], scores.indptr[column + 1])
            found_scores = dict(zip(scores.indices[cells].tolist(), scores.data[cells].tolist(), strict=True))
            listed = {feature for feature, score in found_scores.items() if score > 0} | set(claims)
            for feature in sorted(listed, key=lambda feature: (-found_scores.get(feature, 0.0), feature)):
                line = [neutralised(ranking.names[feature]), neutralised(branch)]
                line.append(repr(float(found_scores.get(feature, 0.0))))
                if has_claims:
                    claim = claims.get(feature)
                    line += ["", ""] if claim is None else [repr(claim.p), repr(claim.q)]
                writer.writerow([*line, neutralised(results.titles.get(branch, ""))] if results.titles else line)


def print_ranked(results: Results, labels: Sequence[str], *, n_top: int, n_branches: int, chosen: bool) -> None:
    """Print everything for people; `chosen` says whether they named the target."""
    data, titles = _dataset(results), results.titles
    say(described(data, chosen=chosen))
    credit = branch_credit(results.label_ranking) if results.per_label() else ""
    if labels:
        for label in labels:
            ranking = results.label_ranking.for_label(label)
            title = _titled(label, titles) + (f": {credit}" if credit else "")
            show(_top_table(ranking, results.claims_of(label), title, n_top, titles))
    else:
        if results.per_label():
            show(_branch_table(results, n_branches, titles))
        for method, ranking in results.rankings.items():
            show(_top_table(ranking, results.claims_of(), f"Top features by {method}", n_top, titles))
        if results.label_importances:
            show(_helping_labels_table(results, n_branches, titles))
        if data.feature_hierarchy is not None:
            show(_group_table(results, n_top, titles))
    for name in ("Efficiency", "FUJI") if len(results.rankings) > 1 else ():
        say(f"{name}, {results.facts[name]}.")
    for shown in _quality_tables(results):
        show(shown)
    if credit == IN_BAG:
        say(f"Features of a branch are ranked by {credit}.")
    for line in claims_lines(results):
        say(line)


def ranking_figure(results: Results) -> Figure:
    """The claims by branch, or where there are none the best features by the first method."""
    from ramify.plots import ranking_bars
    from ramify.plots.claims import claims_by_branch

    if results.discoveries is not None and results.discoveries.claims:
        return claims_by_branch(results.discoveries, titles=results.titles)
    return ranking_bars(next(iter(results.rankings.values())))


def ranked_content(results: Results, labels: Sequence[str], n_top: int) -> dict[str, Any]:
    """The same as plain values, for programs."""
    content: dict[str, Any] = {
        "source": _dataset(results).source,
        "sha256": _dataset(results).sha256,
        "n_samples": _dataset(results).n_samples,
        "facts": dict(results.facts),
        "rankings": {
            method: {"origin": dict(ranking.origin), "top": _top_lines(ranking, results.claims_of(), n_top)}
            for method, ranking in results.rankings.items()
        },
    }
    if results.discoveries is not None:
        content["discoveries"] = plain_discoveries(results.discoveries)
    elif results.no_claims:
        content["no_claims"] = results.no_claims
    if results.associations is not None:
        content["associations"] = plain_discoveries(results.associations)
    if results.per_label():
        shown = labels or [name for _, name in branches_that_fit(results, 1_000_000)]
        content["branches"] = {name: _branch_lines(results, name) for name in shown}
        content["branches_by"] = {"method": results.per_label()[0], "scores": branch_credit(results.label_ranking)}
    for importances in results.label_importances.values():
        content["label_importances"] = {
            str(label): {str(name): float(value) for name, value in row.items()}
            for label, row in importances.iterrows()
        }
    if results.knn_quality:
        content["knn_quality"] = {
            method: {"weighted": weighted, "unweighted": results.knn_baseline, "measure": results.quality_name}
            for method, weighted in results.knn_quality.items()
        }
    if results.curves:
        content["addition_curves"] = {
            method: {
                "sizes": curve.sizes.tolist(),
                "values": curve.values.tolist(),
                "area": curve.area,
                "random_area": None if results.random_curve is None or number else results.random_curve.area,
            }
            for number, (method, curve) in enumerate(results.curves.items())
        }
    return content


def branches_that_fit(results: Results, n_lines: int) -> list[tuple[int, str]]:
    """Depth and name of the labels to show: the top ones, then those below the branches with most importance.

    A branch is opened only if all its children that have any importance fit.
    """
    ranking = results.label_ranking
    totals = np.asarray(results.branch_scores.maximum(0).sum(axis=0)).ravel()
    total = dict(zip(ranking.label_names, totals.tolist(), strict=True))
    order = ranking.hierarchy
    ranked_labels = sorted(ranking.label_names, key=lambda name: -total[name])
    if order is None:
        return [(0, name) for name in ranked_labels if total[name] > 0][:n_lines]
    tops = set(order.roots)
    roots = [name for name in ranked_labels if name in tops and total[name] > 0][:n_lines]
    opened: set[str] = set()
    shown = set(roots)
    waiting = [(-total[name], place, name) for place, name in enumerate(roots)]
    heapify(waiting)
    n_waited = len(waiting)
    while waiting:
        branch = heappop(waiting)[2]
        below = [child for child in order.children[branch] if total[child] > 0 and child not in shown]
        if below and len(shown) + len(below) <= n_lines:
            opened.add(branch)
            shown.update(below)
            for child in below:
                heappush(waiting, (-total[child], n_waited, child))
                n_waited += 1
    return list(_walk(order, roots, opened, total))


def _walk(order: Any, roots: list[str], opened: set[str], total: dict[str, float]) -> Iterator[tuple[int, str]]:
    """Depth first, most important branches first; a label with several parents stands below the first."""
    seen: set[str] = set()
    stack = [(0, name) for name in reversed(roots)]
    while stack:
        depth, name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        yield depth, name
        if name in opened:
            below = sorted((child for child in order.children[name] if total[child] > 0), key=lambda c: total[c])
            stack += [(depth + 1, child) for child in below]


def _branch_table(results: Results, n_lines: int, titles: Mapping[str, str]) -> Table:
    from rich.table import Table
    from rich.text import Text

    ranking = results.label_ranking
    lines = branches_that_fit(results, n_lines)
    n_labels = len(ranking.label_names)
    title = "What predicts what" + (f": {len(lines)} of {n_labels:,} labels" if len(lines) < n_labels else "")
    names = {name: cut_name("  " * depth + plain(titles.get(name, name)), _WIDEST) for depth, name in lines}
    room = console().width - max(map(len, (*names.values(), "label"))) - 7  # the lines and blanks of the table
    tested = results.discoveries is not None or results.associations is not None
    shown = Table(title=title)
    shown.add_column("label", no_wrap=True)
    shown.add_column("features", no_wrap=True)
    for _, name in lines:
        beside = [_unit(line, tested) for line in _branch_lines(results, name)]
        shown.add_row(Text(names[name]), packed(beside or [(_few_rows(results, name), "dim")], room))
    standings = dict.fromkeys(line["standing"] for _, name in lines for line in _branch_lines(results, name))
    meanings = [f"{MARKS[standing]} {MEANINGS[standing]}" for standing in STANDINGS if standing in standings]
    credit = branch_credit(ranking).partition(",")[0] or "score"
    by = f"ranked by {credit} ({ranking.origin['method']})"
    shown.caption = "; ".join([*meanings, by] if tested else [by, "not tested"]) + "."
    return shown


def _unit(line: Mapping[str, Any], tested: bool) -> tuple[str, str]:
    """A feature beside a branch, with a mark and a style for how it stands to it."""
    name = plain(line["feature"])
    if not tested:
        return name, ""
    q = "" if line["q"] is None else f" q{'' if line['q'] < 0.001 else '='}{shown_p(line['q'])}"
    return f"{MARKS[line['standing']]} {name}{q}", _STYLES[line["standing"]]


def _few_rows(results: Results, label: str) -> str:
    return plain(untested(results).get(label, ""))


def _branch_lines(results: Results, label: str) -> list[dict[str, Any]]:
    """The features beside a branch, with how they stand to it."""
    lines = []
    for one in beside(results, label, _TOPS):
        line: dict[str, Any] = {"feature": one.name, "standing": one.standing, "score": one.score, "q": None}
        if one.claim is not None:
            line |= {"effect": one.claim.effect, "p": one.claim.p, "q": one.claim.q}
        lines.append(line)
    return lines


def _helping_labels_table(results: Results, n_lines: int, titles: Mapping[str, str]) -> Table:
    """The labels that help to predict each label where they are known, with their share of its importance."""
    helpers = results.helping_labels(_TOPS)
    rows = []
    for label, best in list(helpers.items())[:n_lines]:
        cells = [f"{_titled(name, titles)} {100 * share:.0f} %" for name, share in best]
        rows.append([_titled(label, titles), *cells, *[""] * (_TOPS - len(cells))])
    more = f" ({len(rows)} of {len(helpers)} labels)" if len(rows) < len(helpers) else ""
    title = f"Which labels help to predict which, by {', '.join(results.label_importances)}{more}"
    return table(title, ["label", *(f"label {number}" for number in range(1, _TOPS + 1))], rows)


def claims_lines(results: Results) -> list[str]:
    """What the claims say and promise, what was left out, or why there are none."""
    beside_claims = associated_sentences(results) + unclaimed_reasons(results)
    if results.discoveries is None:
        return [f"No claims: {results.no_claims}.", *beside_claims] if results.no_claims else []
    claims = results.discoveries
    lines = [f"{discovery_count(claims)}.", *([claims.guarantee] if claims.claims else [])]
    if claims.groups:
        number = "1 group" if len(claims.groups) == 1 else f"{len(claims.groups)} groups"
        lines.append(f"Features that cannot be told apart are claimed as one: {number}.")
    lines += branch_sentences(claims)
    if claims.doubtful:
        lines.append(f"No claim can be made of {len(claims.doubtful)}: {', '.join(list(claims.doubtful)[:5])}.")
    lines += claims.notes
    return lines + beside_claims


def _top_lines(ranking: FeatureRanking, claims: Mapping[int, Claim] | None, n_top: int) -> list[dict[str, Any]]:
    return [
        {
            "rank": int(ranking.ranks[j]),
            "feature": ranking.names[j],
            "score": float(ranking.scores[j]),
            "q": None if claims is None or j not in claims else claims[j].q,
        }
        for j in ranking.order[:n_top].tolist()
    ]


def _top_table(
    ranking: FeatureRanking, claims: Mapping[int, Claim] | None, title: str, n_top: int, titles: Mapping[str, str]
) -> Table:
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=plain(title))
    lines = _top_lines(ranking, claims, n_top)
    has_q = any(line["q"] is not None for line in lines)
    for name, justify in (("rank", "right"), ("feature", "left"), ("score", "right"), ("", "left"), ("q", "right")):
        if name != "q" or has_q:
            shown.add_column(name, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    largest = max(float(ranking.scores.max()), 1e-300)
    for line in lines:
        q = [] if not has_q else ["–" if line["q"] is None else shown_p(line["q"])]
        feature = Text(cut_name(plain(titles.get(line["feature"], line["feature"])), _WIDEST))
        shown.add_row(
            str(line["rank"]),
            feature,
            shown_number(line["score"]),
            Text(bar(line["score"] / largest, _BAR), style="cyan"),
            *q,
        )
    return shown


def _group_table(results: Results, n_top: int, titles: Mapping[str, str]) -> Table:
    """Subtrees of the feature hierarchy, whose features share importance."""
    ranking = next(iter(results.rankings.values()))
    frame = group_frame(ranking, subtree_groups(ranking.names, _dataset(results).feature_hierarchy)).head(n_top)  # type: ignore[arg-type]
    rows = [
        [line.rank, _titled(line.group, titles), float(line.score), line.n_features, _titled(line.best_feature, titles)]
        for line in frame.itertuples()
    ]
    return table("Top groups of features", ["rank", "group", "score", "features", "best feature"], rows)


def _quality_tables(results: Results) -> list[Table]:
    shown = []
    if results.knn_quality and results.knn_baseline is not None:
        rows = [
            [method, weighted, results.knn_baseline, weighted - results.knn_baseline]
            for method, weighted in results.knn_quality.items()
        ]
        title = f"Nearest neighbours, {results.quality_name}: features weighted by the ranking, or all alike"
        shown.append(table(title, ["method", "weighted", "unweighted", "difference"], rows))
    if results.curves:
        random = results.random_curve
        columns = ["features", *results.curves, *(["random order", "its upper 97.5 %"] if random is not None else [])]
        rows = []
        for at, size in enumerate(next(iter(results.curves.values())).sizes.tolist()):
            line: list[Any] = [int(size), *(float(curve.values[at]) for curve in results.curves.values())]
            if random is not None and random.high is not None:
                line += [float(random.values[at]), float(random.high[at])]
            rows.append(line)
        shown.append(table(f"{results.quality_name} of a forest that uses only the best features", columns, rows))
        areas = [[method, curve.area] for method, curve in results.curves.items()]
        if random is not None:
            areas.append(["random order", random.area])
        shown.append(table("Area under these curves", ["order", "area"], areas))
    return shown


def _dataset(results: Results) -> Dataset:
    """The rows that were ranked."""
    if results.dataset is None:
        raise ValueError("These results are of no data set; give the results of analyse.")
    return results.dataset


def _titled(name: str, titles: Mapping[str, str]) -> str:
    return plain(titled(name, titles))
