"""Configuration of the documentation site; `python docs/build.py` builds it."""

from __future__ import annotations

from profkit.version import VERSION

project = "profkit"
version = release = VERSION
html_title = f"profkit {VERSION}"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "sphinx_design"]
exclude_patterns = ["pictures"]

# Pages are read on code hosts, too: what those do not know is used on the front page alone.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
maximum_signature_line_length = 80
default_role = "code"  # docstrings have `names` in single backticks

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["profkit.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b57d0",
        "color-brand-content": "#0b57d0",
        "font-stack": "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
        "font-stack--monospace": "ui-monospace, 'Cascadia Mono', Menlo, 'DejaVu Sans Mono', monospace",
    },
    "dark_css_variables": {"color-brand-primary": "#8ab4f8", "color-brand-content": "#8ab4f8"},
}

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
