"""Pictures of scenes for the documentation: `python scripts/scene_pictures.py [FOLDER] [--only NAME]` (docs/).

Each is made by the command that stands beneath it in the documents: `./run SCENE ... --screenshot docs/NAME.png`.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parent.parent
COMMAND = re.compile(r"`\./run ([^`]*--screenshot) docs/([\w-]+)\.png`")


def commands() -> dict[str, str]:
    """Name of a picture -> what the app is told to make it, up to the file."""
    documents = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    found = (COMMAND.findall(document.read_text(encoding="utf-8")) for document in documents)
    return {name: words for pairs in found for words, name in pairs}


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / "docs")
@click.option("--only", multiple=True, help="A picture by name, as often as you like; all without.")
def main(folder: Path, only: tuple[str, ...]) -> None:
    """One picture a command."""
    known = commands()
    if unknown := set(only) - set(known):
        raise click.BadParameter(f"{', '.join(sorted(unknown))}; allowed: {', '.join(sorted(known))}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or known:
        path = folder.resolve() / f"{name}.png"
        words = [*shlex.split(known[name]), str(path)]
        subprocess.run([sys.executable, str(ROOT / "app.py"), *words], check=True)


if __name__ == "__main__":
    main()
