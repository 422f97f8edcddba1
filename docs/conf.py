"""Sphinx settings: no network, warnings are errors. Of the installed package, or of the checkout where it is built."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
SOURCE = HERE.parent / "src"
if any((SOURCE / "ramify").glob("_core*.so")):
    sys.path.insert(0, str(SOURCE))

from generate import write_generated_pages  # noqa: E402

import ramify  # noqa: E402

write_generated_pages(HERE)

project = "Ramify"
author = "Ramify developers"
copyright = "Ramify developers"
version = release = ramify.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["_templates"]
exclude_patterns = ["_build", "benchmarks"]
default_role = "code"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
numpydoc_show_class_members = False
autosummary_generate = True
autodoc_typehints = "none"

html_theme = "pydata_sphinx_theme"
html_title = "Ramify"
html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["ramify.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 5,
    "logo": {
        "text": "Ramify",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "alt_text": "Ramify",
    },
    "secondary_sidebar_items": {"**": ["page-toc"], "performance": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

# Pages without pages beside them have no list of them, but room.
ALONE = ("performance", "methods", "glossary", "files", "testing", "reliability", "architecture")
html_sidebars = {page: [] for page in ALONE}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "image_scrapers": ("gallery_figures",),
    "capture_repr": (),
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 1,
    "within_subsection_order": "gallery_figures.InOrder",
}


def setup(app):
    """Leave out the methods that scikit-learn adds to every estimator for metadata routing."""
    app.connect("autodoc-skip-member", skip_member)


def skip_member(app, what, name, obj, skip, options):  # noqa: ARG001
    """Whether to leave a member out; None keeps Sphinx's own decision."""
    return True if name.startswith("set_") and name.endswith("_request") else None
