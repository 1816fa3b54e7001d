"""Where modules of an earlier commit have gone: `python scripts/moved_names.py [COMMIT]` writes docs/moved.md.

A module is followed by the public names that stood in it: they are looked for in today's modules.
"""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FROM = "c7b849e"
ROOMS = ("sim", "studies", "render", "ui", "export")
HEAD = """# Where things have gone

Modules that were moved or folded since {commit}, by `python scripts/moved_names.py`. What other documents name as
public (`sim.take`, `sim.errors`, `sim.scene`, `sim.commands`, `sim.world`, `sim.vehicles`, `sim.planner`,
`sim.learning`, `export.file`) is imported as before.

| module then | module now | names that are gone or renamed |
|---|---|---|
"""


def defined(source: str) -> set[str]:
    """Names of public classes, functions and constants at the top of a module's text."""
    names: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {
                part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)
            }
    return {name for name in names if not name.startswith("_")}


def module_name(path: str) -> str:
    """As it is imported."""
    return path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def is_ours(path: str) -> bool:
    """Whether a file is a module of the program."""
    return path.endswith(".py") and path.split("/")[0] in ROOMS


def modules_at(commit: str) -> dict[str, set[str]]:
    """Public names by module, of a commit."""
    listed = _git("ls-tree", "-r", "--name-only", commit).splitlines()
    return {module_name(path): defined(_git("show", f"{commit}:{path}")) for path in listed if is_ours(path)}


def modules_now() -> dict[str, set[str]]:
    """Public names by module, of the files as they are."""
    listed = [
        path for path in _git("ls-files", "*.py").splitlines() if is_ours(path) and (ROOT / path).exists()
    ]
    return {module_name(path): defined((ROOT / path).read_text(encoding="utf-8")) for path in listed}


def moves(before: dict[str, set[str]], now: dict[str, set[str]]) -> list[tuple[str, str, list[str]]]:
    """(module then, module now, names that are in neither) of each that is no more; without a place now: empty."""
    rows = []
    for module in sorted(before.keys() - now.keys()):
        names = before[module]
        found = Counter({place: len(names & there) for place, there in now.items() if names & there})
        best = max(found, key=lambda place: (found[place], _shared(place, module)), default="")
        rows.append((module, best, sorted(names - now.get(best, set()))))
    return rows


def _shared(a: str, b: str) -> int:
    """Parts of the two names that are equal."""
    return len(set(a.split(".")) & set(b.split(".")))


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def main(commit: str = FROM) -> None:
    """Write the table."""
    rows = moves(modules_at(commit), modules_now())
    lines = [
        f"| `{old}` | {f'`{new}`' if new else 'gone'} | {', '.join(f'`{n}`' for n in gone)} |"
        for old, new, gone in rows
    ]
    (ROOT / "docs" / "moved.md").write_text(
        HEAD.format(commit=commit) + "\n".join(lines) + "\n", encoding="utf-8"
    )
    print(f"docs/moved.md: {len(rows)} modules")


if __name__ == "__main__":
    main(*sys.argv[1:2])
