"""Figures that an example's block ends with, as pictures of the gallery, which looks for pyplot's alone."""

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

SHOWN = []
ORDER = (
    "who_drives_what",
    "ontology_features",
    "predict_hierarchy",
    "chains",
    "label_ranking",
    "partly_known",
    "compare_methods",
)


class InOrder:
    """The order of the examples: what matters, what is predicted, how methods compare."""

    def __init__(self, src_dir):
        self.src_dir = src_dir

    def __call__(self, filename):
        return ORDER.index(filename.removeprefix("plot_").removesuffix(".py"))


def last_figure(block, block_vars, gallery_conf):  # noqa: ARG001
    """Save the figure that the block's last line gives, if it gives one."""
    figure = block_vars["example_globals"].get("___")
    if not isinstance(figure, Figure) or any(figure is shown for shown in SHOWN):
        return ""
    SHOWN.append(figure)
    path = next(block_vars["image_path_iterator"])
    figure.savefig(path, dpi=110)
    return figure_rst([path], gallery_conf["src_dir"])


def _get_sg_image_scraper():
    """By this name sphinx-gallery finds the function above."""
    return last_figure
