"""All methods, their orders and what each keeps, as a Markdown table, from what the methods say of themselves.

`python scripts/methods_table.py` prints it; with `--write` it goes into docs/lab.md between its two markers.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import sim  # noqa: E402
from sim.integrators import KEPT, Integrator  # noqa: E402

BEGIN, END = "<!-- methods: written by scripts/methods_table.py -->\n", "<!-- end of methods -->"
SHOWN = ("rigid-body", "heavy-top", "boat", "car", "chain")
"""A free body, one about a fixed point, one that water slows, one on wheels, a tree of joints."""


def kept(method: Integrator) -> tuple[str, ...]:
    """A cell for each vehicle shown."""
    vehicles = [sim.vehicle(name) for name in SHOWN]
    return tuple("-" if method.serves(v) else ", ".join(method.keeps(v)) or "nothing" for v in vehicles)


def methods_table() -> str:
    """One row for the methods of a family that keep the same, and what the words in it mean."""
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, method in sim.integrators().items():
        if method.alias_of:
            continue
        groups.setdefault((method.family, kept(method)), []).append(f"`{name}` {method.order}")
    rows = [f"| family | methods and their orders | {' | '.join(SHOWN)} |", "|---" * (2 + len(SHOWN)) + "|"]
    before = ""
    for (family, cells), methods in groups.items():
        shown, before = "" if family == before else family, family
        rows.append(f"| {shown} | {', '.join(methods)} | {' | '.join(cells)} |")
    words = [f"- *{name}*: {meaning}" for name, meaning in KEPT.items()]
    return "\n".join([*rows, "", *words, "- `-`: the method does not serve such a vehicle", ""])


def with_methods(text: str) -> str:
    """The page with the table between the markers."""
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{methods_table()}\n{END}{after}"


def main() -> None:
    """Print, or write where asked to."""
    path = ROOT / "docs" / "lab.md"
    if "--write" in sys.argv[1:]:
        path.write_text(with_methods(path.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(methods_table())


if __name__ == "__main__":
    main()
