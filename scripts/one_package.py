"""What a wheel carries: the package holonomy, with all others and their files in its folder lib."""

import shutil
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

ROOT = Path(__file__).resolve().parents[1]
CARRIED = ("sim", "studies", "render", "ui", "export", "scenes", "assets", "examples")


class OnePackage(build_py):
    """An editable installation stays as the project has it: the packages are imported by their own names."""

    def run(self) -> None:
        """Fill the folder that becomes the wheel."""
        if self.editable_mode:
            super().run()
            return
        self.packages, self.py_modules = ["holonomy"], []
        target = Path(self.build_lib) / "holonomy"
        shutil.rmtree(target, ignore_errors=True)
        super().run()
        for name in CARRIED:
            ignored = shutil.ignore_patterns("__pycache__", "*.py[co]", ".*")
            shutil.copytree(ROOT / name, target / "lib" / name, ignore=ignored)
        shutil.copy(ROOT / "app.py", target / "lib")


class OneName(egg_info):
    """Says what site-packages gets."""

    def run(self) -> None:
        """Write the metadata."""
        super().run()
        (Path(self.egg_info) / "top_level.txt").write_text("holonomy\n")
