"""On which line of a TOML file a key stands, for messages about it."""

import re

_HEADER = re.compile(r"^\s*\[(\[?)\s*([^\[\]]+?)\s*\]?\]")
_INDEX = re.compile(r"\[(\d+)\]")


def line_of(text: str, key: str) -> int | None:
    """Line, from 1, of a full key such as `model.parts[2].moves[0].turn`; that of its table where it cannot be told.

    None where neither is there. Inline tables over several lines are looked through for the last name.
    """
    wanted = [part for part in _INDEX.sub("", key).split(".") if part]
    if not wanted:
        return None
    best, best_depth = None, 0
    here: list[str] = []
    counts: dict[str, int] = {}
    matches = True
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            here = [part.strip().strip("\"'") for part in header[2].split(".")]
            path = ".".join(here)
            if header[1]:
                counts[path] = counts.get(path, -1) + 1
            matches = here == wanted[: len(here)] and _indices_fit(key, here, counts)
            if matches and len(here) > best_depth:
                best, best_depth = number, len(here)
            if matches and here == wanted:
                return number
            continue
        if not matches:
            continue
        rest = wanted[len(here) :]
        for depth, name in enumerate(rest, start=len(here) + 1):
            told = re.search(rf"(?:^|[\s{{,])[\"']?{re.escape(name)}[\"']?\s*=", line)
            if told and depth > best_depth:
                best, best_depth = number, depth
    return best


def _indices_fit(key: str, here: list[str], counts: dict[str, int]) -> bool:
    """Whether the tables of lists that we are in are those that the key counts."""
    parts = key.split(".")[: len(here)]
    for k, part in enumerate(parts):
        index = _INDEX.search(part)
        if index and counts.get(".".join(here[: k + 1]), 0) != int(index[1]):
            return False
    return True
