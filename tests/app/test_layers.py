"""Who may import whom: simulation below pictures below panels, the app on top, and nowhere in a circle."""

import ast
from collections.abc import Mapping, Set
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

import app

ROOT = Path(app.__file__).resolve().parent
LAYERS = ("sim", "studies", "render", "ui", "export")
DESKTOP = ROOT / "ui" / "desktop"
"""Wires windows: may use every layer, and is used by none."""
ACTIONS = "actions"
"""What features do beside their panels: writes files, so may use the exporters; no panel may use it."""
FORBIDDEN = {
    "sim": {"studies", "render", "ui", "export", "app", "pyglet", "moderngl", "imgui_bundle", "pyrr"},
    "studies": {"render", "ui", "export", "app", "pyglet", "moderngl", "imgui_bundle", "pyrr"},
    "render": {"studies", "ui", "export", "app", "pyglet", "imgui_bundle"},
    "ui": {"studies", "export", "app"},
    "export": {"studies", "ui", "app", "pyglet", "imgui_bundle"},
}


def module_name(path: Path) -> str:
    """As it is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    """Every module of the project."""
    files = [*ROOT.glob("*.py"), *(file for layer in LAYERS for file in (ROOT / layer).rglob("*.py"))]
    return {module_name(path): path for path in files}


def imports(path: Path) -> frozenset[str]:
    """Full names of everything a module imports, wherever in it: late imports and those for types count as well.

    Either tells that the text of one cannot be understood without the other.
    """
    return imported_and_called(path)[0]


@cache
def imported_and_called(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """What a module imports, and the plain names that it calls; a module is parsed once for both."""
    names, called = set(), set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            called.add(node.func.id)
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            known = inner & modules().keys()
            names |= known
            if known != inner:
                names.add(node.module)
    return frozenset(names), frozenset(called)


def imported_packages(path: Path) -> set[str]:
    """Their top-level names."""
    return {name.split(".")[0] for name in imports(path)}


def circles() -> list[set[str]]:
    """Groups of modules that import each other, directly or through others. A package counts for its __init__."""
    return grouped({name: imports(path) for name, path in modules().items()})


def grouped(imported: Mapping[str, Set[str]]) -> list[set[str]]:
    """Groups of names that import each other, directly or through others."""
    names = sorted(imported)
    place = {name: k for k, name in enumerate(names)}
    graph = np.zeros((len(names), len(names)), bool)
    for name in names:
        for other in imported[name] & place.keys():
            graph[place[name], place[other]] = True
    count, label = connected_components(graph, connection="strong")
    groups = [{names[k] for k in np.flatnonzero(label == group)} for group in range(count)]
    return [group for group in groups if len(group) > 1]


@pytest.mark.parametrize("package", FORBIDDEN)
def test_a_layer_imports_no_layer_above_it(package: str) -> None:
    files = [path for path in sorted((ROOT / package).rglob("*.py")) if not _wires(path)]
    assert files
    for path in files:
        assert not imported_packages(path) & FORBIDDEN[package], path.relative_to(ROOT)


def _wires(path: Path) -> bool:
    return DESKTOP in path.parents or (
        ROOT / "ui" / "features" in path.parents and path.stem.endswith(ACTIONS)
    )


def test_panels_do_not_know_what_is_done_for_them() -> None:
    """Panels ask by requests; actions are known to their own feature's like, to the registry and to what wires."""
    for name, path in modules().items():
        used = {
            other for other in imports(path) if other.startswith("ui.features.") and other.endswith(ACTIONS)
        }
        assert not used or _wires(path) or name == "ui.shell.features", (name, used)


def test_nobody_imports_what_wires_a_window_but_the_app() -> None:
    for name, path in modules().items():
        if name != "app" and DESKTOP not in path.parents:
            assert not any(other.startswith("ui.desktop") for other in imports(path)), name


def test_the_app_is_the_only_module_at_the_top_and_only_wires() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["app.py"]
    assert len((ROOT / "app.py").read_text(encoding="utf-8").splitlines()) < 150


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert circles() == []


def folder(path: Path) -> str:
    """Where a module lies; one at the top of a layer is a folder of its own."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "/".join(parts if len(parts) == 2 else parts[:-1])


def test_no_folders_import_each_other_in_a_circle() -> None:
    """A folder imports those below it: none that imports it in turn, through whichever of its modules."""
    folders: dict[str, set[str]] = {}
    for path in modules().values():
        here = folder(path)
        others = {folder(modules()[other]) for other in imports(path) & modules().keys()}
        folders[here] = folders.get(here, set()) | others - {here}
    assert len(folders) > 50
    assert grouped(folders) == []


@pytest.mark.parametrize("room", ["groups", "spaces", "multibody", "integrators", "compiler"])
def test_mechanics_and_the_compiler_know_no_world(room: str) -> None:
    """What surrounds a vehicle is handed to a kernel as code to be taken in and as one tuple of numbers."""
    above = {
        "world",
        "environment",
        "contact",
        "water",
        "simulation",
        "scene",
        "vehicle_config",
        "pilot",
        "planner",
        "take",
    }
    files = sorted((ROOT / "sim" / room).rglob("*.py"))
    assert files
    for path in files:
        rooms = {name.split(".")[1] for name in imports(path) if name.startswith("sim.")}
        assert not rooms & above, path.relative_to(ROOT)


LOOK_UP = {
    "known_vehicle": {
        "sim/vehicles/__init__.py",
        "sim/scene/file.py",
        "sim/scene/tables.py",
        "sim/planner/result/store.py",
        "sim/recordings/file.py",
    },
    "config_named": {
        "sim/models/asset.py",
        "render/vehicles/rigs.py",  # what stands parked in a world is named by its model
        "render/plan/view.py",
        "ui/input/keymap.py",  # keys are set for any vehicle of the catalogue
    },
}
"""What finds an object by its name -> the files that read names: everybody else is handed the object."""


@pytest.mark.parametrize("function", LOOK_UP)
def test_names_become_objects_where_files_are_read_and_nowhere_below(function: str) -> None:
    called = {
        path.relative_to(ROOT).as_posix()
        for name, path in modules().items()
        if name.split(".")[0] in (*LAYERS, "app") and function in imported_and_called(path)[1]
    }
    assert called == LOOK_UP[function]


def test_imgui_stays_in_the_user_interface() -> None:
    for path in (ROOT / "app.py", *DESKTOP.glob("*.py"), *(ROOT / "export").rglob("*.py")):
        assert "imgui_bundle" not in imported_packages(path), path.name
