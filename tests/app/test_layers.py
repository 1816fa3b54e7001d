"""Who may import whom: simulation below pictures below panels, the app on top."""

import ast
from pathlib import Path

import pytest

import app

ROOT = Path(app.__file__).resolve().parent
TOP = {path.stem for path in ROOT.glob("*.py")}
"""Modules that wire the layers."""
FORBIDDEN = {
    "sim": {"render", "ui", "export", *TOP, "pyglet", "moderngl", "imgui_bundle", "pyrr"},
    "render": {"ui", "export", *TOP, "pyglet", "imgui_bundle"},
    "ui": {"export", *TOP},
    "export": {"ui", *TOP, "pyglet", "imgui_bundle"},
}


def imported_packages(path: Path) -> set[str]:
    """Top-level names of everything a module imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("package", FORBIDDEN)
def test_a_layer_imports_no_layer_above_it(package: str) -> None:
    files = sorted((ROOT / package).rglob("*.py"))
    assert files
    for path in files:
        assert not imported_packages(path) & FORBIDDEN[package], path.relative_to(ROOT)


def test_imgui_stays_in_the_user_interface() -> None:
    for path in (*ROOT.glob("*.py"), *(ROOT / "export").rglob("*.py")):
        assert "imgui_bundle" not in imported_packages(path), path.name
