"""The surface of the compiled module: what its stub declares, and nothing else."""

import ast
from pathlib import Path

import ramify
from ramify import _core


def test_the_module_exports_exactly_what_its_stub_declares():
    stub = ast.parse(Path(ramify.__file__).with_name("_core.pyi").read_text(encoding="utf-8"))
    declared = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    assert declared == {name for name in dir(_core) if not name.startswith("_")}
