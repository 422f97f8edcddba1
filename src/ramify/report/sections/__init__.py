"""The report's sections: every module here holds one as `SECTION`."""

from importlib import import_module
from pkgutil import iter_modules

from ramify.report.section import Section

_FOUND = [import_module(f"{__name__}.{module.name}").SECTION for module in iter_modules(__path__)]
SECTIONS: tuple[Section, ...] = tuple(sorted(_FOUND, key=lambda section: section.place))
"""In the order of the page. A new section is a module here and a template of its name, nothing else."""
