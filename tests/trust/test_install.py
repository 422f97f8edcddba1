"""What an installation consists of: few dependencies, optional extras, a small wheel and nothing else in it."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
CORE = {re.match(r"[\w-]+", requirement)[0].lower() for requirement in PROJECT["dependencies"]}


def test_the_core_needs_only_the_fields_own_libraries(scorecard):
    assert {
        "numpy",
        "scipy",
        "scikit-learn",
        "pandas",
        "narwhals",
        "joblib",
        "threadpoolctl",
        "matplotlib",
        "jinja2",
        "click",
        "rich",
    } == CORE
    scorecard("R30", f"{len(CORE)} direct dependencies")


def test_every_dependency_has_a_lower_bound_and_the_numeric_ones_an_upper_one():
    for requirement in PROJECT["dependencies"]:
        assert ">=" in requirement
    for name in ("numpy", "scipy", "scikit-learn", "pandas"):
        bounds = next(requirement for requirement in PROJECT["dependencies"] if requirement.startswith(name))
        assert "<" in bounds


@pytest.mark.parametrize("ending", ["newest", "oldest"])
def test_hashed_requirements_pin_every_core_dependency(ending):
    text = (ROOT / "requirements" / f"{ending}.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+)", text, flags=re.M))
    assert {name.lower() for name in pinned} >= CORE
    assert text.count("--hash=sha256:") >= len(pinned)


def test_the_oldest_versions_are_the_lower_bounds():
    pins = dict(line.split("==") for line in (ROOT / "requirements" / "oldest.in").read_text("utf-8").split())
    imported = [*PROJECT["dependencies"], *(one for name in ("dask", "parquet", "excel") for one in EXTRAS[name])]
    for requirement in [*imported, *(one for one in EXTRAS["all"] if not one.startswith("ramify"))]:
        name, bound = re.match(r"([\w-]+)>=([\d.]+)", requirement).groups()
        assert (pins[name] + ".0").startswith(f"{bound}."), requirement


OPTIONAL = (
    "dask",
    "distributed",
    "pyarrow",
    "openpyxl",
    "polars",
    "networkx",
    "playwright",
    "sphinx",
    "hypothesis",
    "pytest",
)


def test_the_core_works_without_any_extra(scorecard):
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {OPTIONAL!r}:
            raise ImportError("not installed: " + name)
sys.meta_path.insert(0, Absent())
import importlib, pkgutil, ramify
for module in pkgutil.walk_packages(ramify.__path__, "ramify."):
    if not module.name.startswith("ramify.studies"):
        importlib.import_module(module.name)
import numpy as np
from ramify import ForestClassifier, ForestRanker
rng = np.random.default_rng(0)
X, Y = rng.normal(size=(60, 4)), rng.integers(0, 2, (60, 3))
print(ForestRanker(ForestClassifier(5, random_state=0)).fit(X, Y).ranking_.scores.shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "(4,)" in done.stdout
    scorecard("R30", "imports and ranks without any extra")


def installed_files() -> list[importlib.metadata.PackagePath]:
    try:
        files = importlib.metadata.files("ramify")
    except importlib.metadata.PackageNotFoundError:
        files = None
    if not files or not any(str(file).startswith("ramify/") for file in files):
        pytest.skip("ramify runs from a checkout; this checks an installed wheel")
    return files


def test_the_wheel_holds_the_package_and_nothing_else(scorecard):
    files = [str(file) for file in installed_files()]
    allowed = re.compile(
        r"(ramify/[\w/.-]+\.(py|pyi|typed|so|pyd|html|css|js|md)|ramify/_core[\w.-]+|ramify-[\w.+-]+\.dist-info/.+"
        r"|ramify/studies/\w+\.(csv|json)|(\.\./)+bin/ramify|ramify/([\w]+/)*__pycache__/.+)$"
    )
    assert [file for file in files if not allowed.match(file)] == []
    assert sum("_core" in file and "__pycache__" not in file and not file.endswith(".pyi") for file in files) == 1
    size = sum(file.locate().stat().st_size for file in installed_files() if "__pycache__" not in str(file))
    assert size < 10 * 2**20
    scorecard("R30", f"{size / 2**20:.1f} MB installed")


@pytest.mark.slow
def test_the_wheel_builds_under_ten_megabytes(tmp_path, scorecard):
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", str(tmp_path), str(ROOT)], check=True
    )
    (wheel,) = tmp_path.glob("ramify-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("ramify/", "ramify-")) for name in names)
    assert wheel.stat().st_size < 10e6
    scorecard("R30", f"wheel of {wheel.stat().st_size / 1e6:.1f} MB")
