"""How the site is built: `make docs`, with warnings as errors."""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from site_parts import (
    copy_pages,
    example_report,
    navigation,
    reproduction_tables,
    with_links_of_the_site,
)

import seminaive
from seminaive.kernels import compilation

project = "seminaive"
author = "The seminaive developers"
copyright = author  # noqa: A001 - Sphinx's name
version = release = seminaive.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
html_theme = "furo"
html_title = "seminaive"
html_extra_path = ["_build/extra"]
html_static_path = ["_static"]
html_css_files = ["site.css"]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "gallery/*.py", "gallery/*.zip"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say what a value does; signatures stay readable
napoleon_google_docstring = False
napoleon_use_rtype = False
# Words of a type, "rows" for instance, are not names of objects: parameters are lists without links. Fitted
# attributes are listed in the same way, which also keeps the underscore at the end of their names.
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "remove_config_comments": True,
    "ignore_repr_types": r"seminaive\.explain\.|matplotlib\.",  # pictures; their addresses say nothing
}


def _fill_in(app, docname, source):
    del app
    if docname == "experiments/reproduction":
        source[0] = source[0].replace("<!-- tables -->", reproduction_tables())
    if docname == "index":
        for group, pages in navigation().items():
            source[0] = source[0].replace(f"<!-- {group} -->", "\n".join(pages))
    source[0] = with_links_of_the_site(source[0], docname)


def _made_anew(app, env, added, changed, removed):
    """The kept results and the families may have changed where these pages have not."""
    del app, env, added, changed, removed
    return ["index", "experiments/reproduction"]


def _is_foreign(app, what, name, obj, skip, options):
    """Leave scikit-learn's own methods to scikit-learn's site."""
    del app, what, name, options
    return True if str(getattr(obj, "__module__", "")).startswith("sklearn.") else skip


def _escape_learned_names(app, what, name, obj, options, lines):
    """A shape such as ``(n_iter_,)`` in a docstring is not a link, whatever reStructuredText thinks."""
    del app, what, name, obj, options
    lines[:] = [re.sub(r"(?<=\w)_(?=[,)\]])", r"\\_", line) if " : " in line else line for line in lines]


def _keep_properties_whole(app, what, name, obj, options, lines):
    """The first sentence of a property may have a colon: what is before it is not its type."""
    del app, name, obj, options
    if what in ("property", "attribute"):
        lines[:0] = ["..", ""]  # an empty comment, which becomes the first line


def setup(app):
    compilation.NOTICE = ""  # examples run where kernels may be compiled first; a page is no place to say so
    copy_pages()
    example_report(Path(__file__).parent / "_build" / "extra")
    app.connect("source-read", _fill_in)
    app.connect("env-get-outdated", _made_anew)
    app.connect("autodoc-skip-member", _is_foreign)
    app.connect("autodoc-process-docstring", _escape_learned_names, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _keep_properties_whole, priority=400)
