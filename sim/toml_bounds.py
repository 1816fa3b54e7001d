"""Is a TOML text within bounds? Some short ones would keep a parser busy for hours, or lead it too deep."""

import re

from sim.errors import InputError
from sim.user_files import DEEPEST

MOST_WORD = 120
"""Characters of a number, a date or a key without quotes."""
MOST_PARTS = 32
"""Of a key, `a.b.c`."""
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^']|'(?!''))*+'''"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>[=,\n])|(?P<dot>\.)"
    r"|(?P<word>[^\s\"'#\[\]{}=,.]++)",
    re.DOTALL,
)


def check_bounds(text: str) -> None:
    """Raises InputError with the line for nesting, keys or numbers that no reasonable text has."""
    depth = parts = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        if kind in ("open", "close", "end"):
            parts = 0
        elif kind == "dot":
            parts += 1
        if depth > DEEPEST:
            _refuse(text, token, f"brackets within brackets; allowed: {DEEPEST} deep")
        if parts >= MOST_PARTS:
            _refuse(text, token, f"a key of many parts; allowed: {MOST_PARTS}")
        if kind == "word" and token.end() - token.start() > MOST_WORD:
            _refuse(text, token, f"a number or a key that is very long; allowed: {MOST_WORD} characters")


def _refuse(text: str, token: re.Match[str], what: str) -> None:
    raise InputError(f"line {text.count(chr(10), 0, token.start()) + 1}: {what}")
