"""How the program is divided: `python scripts/house.py` prints modules, lines, small modules and circles of folders."""

import ast
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.sparse.csgraph import connected_components

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("sim", "studies", "render", "ui", "export")
ADDED = {
    "controllers of one's own": (
        "sim/controllers/",
        "sim/control/feedback/",
        "sim/analysis/controller_comparison.py",
        "ui/features/controllers.py",
    ),
    "bodies that touch each other, and props": (
        "sim/contact/approach.py",
        "sim/contact/bodies.py",
        "sim/contact/convex.py",
        "sim/contact/manifold.py",
        "sim/contact/pile.py",
        "sim/contact/obstacles/props.py",
        "sim/shapes/rounded.py",
        "sim/shapes/solid.py",
        "sim/shapes/upright.py",
        "sim/shapes/polyhedra.py",
        "sim/shapes/height_field.py",
    ),
    "plans of trees, gears and covers": (
        "sim/planner/guess/joints.py",
        "sim/planner/guess/turning.py",
        "sim/planner/task/cover.py",
        "sim/planner/transcription/funnel.py",
        "sim/multibody/symbolic.py",
        "sim/models/drawn_solids.py",
    ),
    "other programs in command": ("sim/live/", "ui/features/takes/live_actions.py"),
    "pages and logs of motions": ("export/mcap.py", "export/page.py"),
    "problems with known answers": ("studies/ledger/", "studies/reference/"),
    "progress, crashes and choice of methods": (
        "ui/features/achievements.py",
        "ui/features/progress/",
        "ui/features/methods.py",
        "render/vehicles/wreckage.py",
        "render/vehicles/crash.py",
        "render/vehicles/crash_film.py",
        "export/fall.py",
    ),
    "pictures that add up, and land in its light": (
        "render/passes/accumulation.py",
        "render/land/mapped.py",
    ),
    "what a vehicle is made of": (
        "ui/features/model/",
        "render/vehicles/links.py",
        "sim/vehicle_config/mechanism.py",
    ),
    "linearised motions": ("sim/linear/",),
}
"""What the program can do since c7b849e, by modules of its own; what grew within others is not counted."""
SMALL = 60
"""Lines of code below which a module with one importer is a fragment of that."""


def code_lines(text: str) -> int:
    """Without blank lines, comments and docstrings."""
    told: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            told |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for i, line in lines if line.strip() and not line.strip().startswith("#") and i not in told)


def imported(text: str, modules: set[str]) -> set[str]:
    """Modules of the program that a text imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= (inner & modules) or {node.module}
    return found & modules


def circles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Groups of folders that import each other, directly or through others."""
    names = sorted(edges.keys() | {other for others in edges.values() for other in others})
    graph = np.array([[other in edges.get(name, set()) for other in names] for name in names], bool)
    count, label = connected_components(graph, connection="strong")
    groups = [[names[k] for k in np.flatnonzero(label == group)] for group in range(count)]
    return [group for group in groups if len(group) > 1]


def main() -> None:
    """Print the figures."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in listed if (ROOT / path).exists()}
    names = {
        path: path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for path in texts
        if path.split("/")[0] in ROOMS
    }
    modules = set(names.values())
    users: dict[str, set[str]] = defaultdict(set)
    folders: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        if path.startswith("tests/"):
            continue
        for name in imported(text, modules):
            users[name].add(path)
            if path in names:
                here, there = _folder(path), _folder(next(p for p, n in names.items() if n == name))
                if here != there:
                    folders[here].add(there)
    small = [
        path
        for path, name in names.items()
        if not path.endswith("__init__.py") and len(users[name]) == 1 and code_lines(texts[path]) < SMALL
    ]
    lines = sum(texts[path].count("\n") for path in names)
    print(f"modules                                   {len(names)}")
    print(f"lines                                     {lines}")
    print(
        f"median lines of a module                  {np.median([texts[p].count(chr(10)) for p in names]):.0f}"
    )
    print(f"modules above 500 lines                   {sum(texts[p].count(chr(10)) > 500 for p in names)}")
    print(
        f"below {SMALL} lines of code with one importer  {len(small)} ({100 * len(small) / len(names):.0f} %)"
    )
    _print_added({path: texts[path].count("\n") for path in names})
    knots = circles(folders)
    print(f"folders that import each other in circles {sum(map(len, knots))} in {len(knots)} groups")
    for knot in knots:
        print("   ", ", ".join(knot))


def _print_added(lines: dict[str, int]) -> None:
    """Of what modules are that hold features since c7b849e."""
    found = {what: [path for path in lines if path.startswith(begins)] for what, begins in ADDED.items()}
    every = [path for paths in found.values() for path in paths]
    print(f"of these for features since c7b849e       {len(every)} of {sum(lines[p] for p in every)} lines")
    for what, paths in found.items():
        print(f"    {what:43} {len(paths)} of {sum(lines[p] for p in paths)} lines")


def _folder(path: str) -> str:
    """Of a module; one that stands at the top of a layer is a folder of its own."""
    parts = path.split("/")
    return (
        "/".join(parts[:-1]) if len(parts) > 2 or path.endswith("__init__.py") else path.removesuffix(".py")
    )


if __name__ == "__main__":
    main()
