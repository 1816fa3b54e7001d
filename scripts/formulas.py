"""Formulas of the documentation, from TeX to MathML when the site is built: browsers draw that without any script."""

import re
from typing import Any

from latex2mathml.converter import convert

_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_SHOWN = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_INLINE = re.compile(r"(?<![\\$\w])\$(?=\S)([^$\n]+?)(?<=\S)\$(?![\w$])")


def on_page_markdown(markdown: str, **_: Any) -> str:
    """mkdocs calls this for every page; code is left alone."""
    parts = _CODE.split(markdown)
    return "".join(part if k % 2 else with_formulas(part) for k, part in enumerate(parts))


def with_formulas(text: str) -> str:
    """$$ ... $$ as a formula of its own, $ ... $ within the line."""
    text = _SHOWN.sub(lambda found: convert(found[1].strip(), display="block"), text)
    return _INLINE.sub(lambda found: convert(found[1]), text)
