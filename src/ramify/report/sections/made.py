"""How the report was made, and what to cite."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import ramify
from ramify.analysis import Results
from ramify.analysis.methods import papers
from ramify.report.markdown import bullets, facts_list, heading
from ramify.report.section import Content, Section

_OWN = "Ramify developers. Ramify: feature ranking, selection and prediction for structured targets."
_DEMSAR = (
    "J. Demšar. Statistical comparisons of classifiers over multiple data sets. Journal of Machine Learning Research "
    "7, 1-30, 2006."
)


def _part(results: Results) -> dict[str, Any]:
    packages = ("numpy", "scipy", "scikit-learn")
    facts = [
        ("Ramify", ramify.__version__),
        ("With", ", ".join(f"{name} {version(name)}" for name in packages)),
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
    ]
    if results.seed is not None:
        facts.append(("Seed", str(results.seed)))
    if results.seconds is not None:
        facts.append(("Time", f"{results.seconds:.1f} s"))
    facts.extend((str(name), str(value)) for name, value in results.facts.items())
    citations = [_OWN, *papers(results.rankings), *([_DEMSAR] if results.comparisons else [])]
    return {"version": ramify.__version__, "facts": facts, "command": results.command, "citations": citations}


def _markdown(content: Content) -> list[str]:
    made = content["made"]
    facts = [*made["facts"], *([("Command", made["command"])] if made["command"] else [])]
    return [
        heading(SECTION.title) + "\n\n" + facts_list(facts),
        heading("How to cite") + "\n\n" + bullets(made["citations"]),
    ]


SECTION = Section("made", 130, "How it was made", "How this was made", key="made", part=_part, markdown=_markdown)
