"""The shape of the code, counted: one decision in one place, no private name across packages.

``python -m tests.test_shape`` prints the table.
"""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "ramify"
KINDS = {"classes", "labels", "hierarchy", "numbers", "rankings", "mixed"}
ABOUT_KINDS = re.compile(r"(^|_)(kind|kinds|target|targets|outcome)_?$")
FORESTS = re.compile(r"Forest(Classifier|Regressor)?$|LabelRankingForest$")

# How many there may be; a limit is raised on purpose only.
LIMITS = {
    "comparisons of kinds of targets outside targets/": 4,
    "isinstance on forests": 0,
    "private names of other packages": 0,
    "parameters overwritten before they are read": 0,
}


@cache
def modules() -> list[tuple[Path, ast.Module]]:
    return [(path.relative_to(SOURCE), ast.parse(path.read_text())) for path in sorted(SOURCE.rglob("*.py"))]


def texts(node: ast.expr) -> set[object]:
    """Constants that are compared with: the value itself, or those of a tuple, list or set."""
    items = node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]
    return {item.value for item in items if isinstance(item, ast.Constant)}


def name_of(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def comparisons_of_kinds() -> list[str]:
    """Comparisons of what is called a kind or target with the name of one, and tables with a row per kind."""
    found = []
    for path, module in modules():
        if path.parts[0] == "targets" or path.as_posix() == "datasets/tables/target_columns.py":  # told by cells there
            continue
        for node in ast.walk(module):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                names = any(ABOUT_KINDS.search(name_of(side)) for side in sides)
                compares = names and any(texts(side) & KINDS for side in sides)
            elif isinstance(node, ast.Dict):
                keys = {key.value for key in node.keys if isinstance(key, ast.Constant)}
                compares = len(keys & KINDS) >= 3
            else:
                compares = False
            if compares:
                found.append(f"{path}:{node.lineno}")
    return found


def isinstance_on_forests() -> list[str]:
    found = []
    for path, module in modules():
        for node in ast.walk(module):
            if isinstance(node, ast.Call) and name_of(node.func) == "isinstance" and len(node.args) == 2:
                kinds = node.args[1].elts if isinstance(node.args[1], ast.Tuple) else [node.args[1]]
                if any(FORESTS.match(name_of(kind)) and ast.unparse(kind) != "_core.Forest" for kind in kinds):
                    found.append(f"{path}:{node.lineno}")
    return found


def private_names_of_other_packages() -> list[str]:
    """Underscored attributes of anything but `self`, `cls` and `super()` that the package does not itself set."""
    own: dict[str, set[str]] = {}
    used: list[tuple[str, str, str]] = []
    for path, module in modules():
        package = path.parts[0]
        names = own.setdefault(package, set())
        for node in ast.walk(module):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                names.add(node.name)
            if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
                if isinstance(node.ctx, ast.Store):
                    names.add(node.attr)
                if name_of(node.value) not in {"self", "cls", "super", "ramify"} and node.attr not in PUBLIC_BY_CUSTOM:
                    used.append((package, node.attr, f"{path}:{node.lineno} {node.attr}"))
            if isinstance(node, ast.AnnAssign | ast.Assign):
                for target in [node.target] if isinstance(node, ast.AnnAssign) else node.targets:
                    names.add(name_of(target))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ramify"):
                for alias in node.names:
                    if re.match(r"_[a-z]", alias.name) and alias.name != "_core":
                        used.append((package, f"{node.module}.{alias.name}", f"{path}:{node.lineno} {alias.name}"))
    return [where for package, name, where in used if name not in own[package]]


def overwritten_parameters() -> list[str]:
    """Parameters that every call sets anew before anything reads them: what the caller asked for is lost."""
    found = []
    for path, module in modules():
        for function in ast.walk(module):
            if not isinstance(function, ast.FunctionDef):
                continue
            arguments = function.args
            unread = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
            statements = list(function.body)
            while statements:
                statement = statements.pop(0)
                if isinstance(statement, ast.With):  # runs in any case, as the statements around it do
                    statements[:0] = [ast.Expr(item.context_expr) for item in statement.items] + statement.body
                    continue
                unread -= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
                if isinstance(statement, ast.Assign):
                    lost = unread & {name_of(target) for target in statement.targets}
                    found += [f"{path}:{statement.lineno} {name}" for name in lost]
    return found


PUBLIC_BY_CUSTOM = {"_asdict", "_replace", "_fields", "_make", "_repr_html_", "_core", "_exit"}


@cache
def counts() -> dict[str, tuple[int, list[str]]]:
    """What there is of each, and where."""
    found = [
        comparisons_of_kinds(),
        isinstance_on_forests(),
        private_names_of_other_packages(),
        overwritten_parameters(),
    ]
    return {what: (len(places), places) for what, places in zip(LIMITS, found, strict=True)}


@pytest.mark.parametrize("what", LIMITS)
def test_the_code_keeps_its_shape(what):
    count, places = counts()[what]
    assert count <= LIMITS[what], f"{what}: {count}, at most {LIMITS[what]}\n" + "\n".join(places)


def test_counting_sees_what_it_should():
    assert texts(ast.parse("('labels', other)", mode="eval").body) == {"labels"}


if __name__ == "__main__":
    for what, (count, places) in counts().items():
        print(f"{what:58}{count:8,}   at most {LIMITS[what]:,}")  # noqa: T201
        if count > LIMITS[what] or len(places) < 40:
            print("\n".join(f"    {place}" for place in places))  # noqa: T201
