"""Where generated, re-creatable things live on disk: compiled kernels, worlds."""

from pathlib import Path

from sim.folders import user_folder


def cache_dir(kind: str) -> Path:
    """Folder for one kind of generated file, created on demand.

    `$HOLONOMY_CACHE` overrides the platform's cache folder. Raises InputError where the folder cannot be made.
    """
    return user_folder(
        "HOLONOMY_CACHE",
        windows="LOCALAPPDATA",
        library="Caches",
        xdg="XDG_CACHE_HOME",
        home=".cache",
        inner=kind,
    )
