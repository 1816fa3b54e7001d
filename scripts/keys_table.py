"""The keys as a Markdown table, from the tables that the app itself uses.

`python scripts/keys_table.py` prints it; with `--write` it goes into the README between its two markers.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import sim  # noqa: E402
from ui.input.keymap import (  # noqa: E402
    KeyBinding,
    key_label,
    keymap_of,
)

BEGIN, END = "<!-- keys: written by scripts/keys_table.py -->\n", "<!-- end of keys -->"


def table(title: str, bindings: tuple[KeyBinding, ...]) -> str:
    """One table in Markdown."""
    rows = [f"| {title} | |", "|---|---|"]
    for binding in bindings:
        keys = " or ".join(f"`{key_label(key)}`" for key in binding.keys)
        rows.append(f"| {keys} | {binding.label} |")
    return "\n".join(rows) + "\n"


def others_table(shown: str) -> str:
    """One row a vehicle, but for the one that has a table of its own."""
    rows = ["| Others | |", "|---|---|"]
    for vehicle in sim.vehicles():
        if vehicle != shown:
            pairs = keymap_of(vehicle).summary()[:-1]
            told = (" ".join(f"`{key}`" for key in keys.split()) + f" {word}" for keys, word in pairs)
            rows.append(f"| {vehicle} | {', '.join(told)} |")
    return "\n".join(rows) + "\n"


def keys_table() -> str:
    """What flies the helicopter, what flies the others, and what the viewer does while the helicopter is flown."""
    keymap = keymap_of("helicopter")
    tables = table("Helicopter", keymap.vehicle), others_table("helicopter"), table("View", keymap.viewer)
    return "\n".join(tables)


def with_keys(readme: str) -> str:
    """The README with the tables between the markers."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{keys_table()}\n{END}{after}"


def main() -> None:
    """Print, or write where asked to."""
    path = ROOT / "README.md"
    if "--write" in sys.argv[1:]:
        path.write_text(with_keys(path.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        print(keys_table())


if __name__ == "__main__":
    main()
