"""What a sun gives to a world's still things, kept between starts: software GL takes half a second to draw it.

It is made in steps, so that frames can come between them.
"""

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Protocol

import moderngl
import numpy as np

from render.light import Sun
from render.quality import Quality, is_software
from sim.platform.cache import Arrays, cached_arrays, kept_arrays, source_digest

_WAIT_S = 0.005
"""For what is read, at most, before a frame may come."""


def step(steps: Iterator[object]) -> bool:
    """Take one; whether there was one to take."""
    for _ in steps:
        return True
    return False


def take(steps: Iterator[object], seconds: float) -> bool:
    """Take as many as begin within so many seconds, one at least; whether any may be left."""
    until_s = perf_counter() + seconds
    while step(steps):
        if perf_counter() > until_s:
            return True
    return False


def finish(steps: Iterator[object]) -> None:
    """Take all that are left."""
    for _ in steps:
        pass


class Lit(Protocol):
    """Something that light is drawn into."""

    def lit(self) -> Mapping[str, np.ndarray]:
        """What has been drawn."""

    def take_light(self, kept: Mapping[str, np.ndarray]) -> None:
        """Have it as if it had been drawn."""


class KeptLight:
    """What was kept under a name. It is read by a thread from now on: it is tens of megabytes."""

    def __init__(self, name: str) -> None:
        self.name = name
        thread = ThreadPoolExecutor(1, thread_name_prefix="light")
        self._reading = thread.submit(kept_arrays, "light", name)
        thread.shutdown(wait=False)  # once it has read

    def read(self) -> Generator[None, None, Arrays | None]:
        """It, or None where there is none; until it is there frames may come."""
        while not wait([self._reading], _WAIT_S).done:
            yield
        return self._reading.result()


def kept_light(ctx: moderngl.Context, still: str, quality: Quality, sun: Sun) -> KeptLight | None:
    """That of a sun on `still` things; None where drawing takes no longer."""
    if not still or not is_software(ctx):
        return None
    told = repr((ctx.info["GL_RENDERER"], ctx.info["GL_VERSION"], quality, sun, _drawn_by()))
    return KeptLight(f"{still}-{hashlib.sha256(told.encode()).hexdigest()[:24]}")


def lit_from_cache(
    light: KeptLight, draw: Callable[[], Iterator[None]], parts: Mapping[str, Lit]
) -> Iterator[None]:
    """Have the light in all parts: drawn, a share at a step, or as it was kept, a part at a step."""
    name, kept = light.name, (yield from light.read())
    if kept is None:
        yield from draw()
        cached_arrays(
            "light",
            name,
            lambda: {
                f"{part}: {name}": array for part, lit in parts.items() for name, array in lit.lit().items()
            },
        )
        yield
        return
    for part, lit in parts.items():
        own = f"{part}: "
        lit.take_light({name[len(own) :]: a for name, a in kept.items() if name.startswith(own)})
        yield


@cache
def _drawn_by() -> str:
    """Digest of the shaders and of what calls them."""
    folder = Path(__file__).parents[1]
    files = (*folder.rglob("*.py"), *(file for file in (folder / "shaders").rglob("*") if file.is_file()))
    return source_digest(*map(str, files))
