import re
import subprocess
import sys
from pathlib import Path

import pytest

import ramify


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_loads_nothing_heavy():
    loaded = run("import sys, ramify; print([m for m in ('sklearn', 'pandas', 'scipy', 'numpy') if m in sys.modules])")
    assert loaded.strip() == "[]"


def test_help_loads_neither_scikit_learn_nor_pandas():
    code = (
        "import sys\nfrom ramify.cli.main import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('sklearn', 'pandas', 'scipy', 'matplotlib') if m in sys.modules])"
    )
    assert run(code).strip().endswith("[]")


def test_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        ramify.nonsense  # noqa: B018


def test_every_name_of_the_package_can_be_imported():
    for name in ramify.__all__:
        assert getattr(ramify, name) is not None
    assert set(dir(ramify)) == set(ramify.__all__)


def test_the_stub_for_type_checkers_lists_the_same_names():
    stub = Path(ramify.__file__).with_name("__init__.pyi").read_text(encoding="utf-8")
    listed = set(re.findall(r" as (\w+)$", stub, flags=re.M)) | {"__version__"}
    assert listed == set(ramify.__all__)


def test_citation_and_changelog_name_the_version():
    root = Path(__file__).parents[1]
    if not (root / "CITATION.cff").exists():
        pytest.skip("no checkout")
    assert f"\nversion: {ramify.__version__}\n" in (root / "CITATION.cff").read_text(encoding="utf-8")
    releases = re.findall(r"^## (\d\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)
    assert releases[0] == ramify.__version__
