"""Shader programs from files, with #include, #define and errors that name file and line, and vertex arrays for them."""

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from copy import copy
from pathlib import Path
from typing import Protocol, TypeVar, cast

import moderngl

from render.errors import DisplayError

SHADERS = Path(__file__).parent / "shaders"
FRAME_BINDING = 0
"""Binding point of the uniform block `Frame`."""

SAMPLER_UNITS: dict[str, int] = {
    "sky_lut": 0,
    "sun_shadow_map": 1,
    "vehicle_shadow_map": 2,
    "noise_map": 3,
    "strata_map": 4,
    "leaf_map": 5,
    "opaque_map": 6,
    "reflection_map": 7,
    "slope_map": 8,
    "band_map": 9,
    "water_marks_map": 10,
    "sea_shape_0": 11,
    "sea_shape_1": 12,
    "sea_shape_2": 13,
    "sea_slope_0": 14,
    "sea_slope_1": 15,
    "sea_slope_2": 16,
    "sea_foam_map": 17,
    "sea_depth_map": 18,
    "hull_map": 19,
    "box_map": 20,
    "light_map": 21,
    "sea_place_map": 22,
    "water_shaded_map": 23,
    "grain_map": 24,
    "scene_depth_map": 25,
    "sky_map": 26,
    "sea_veil_map": 27,
    "level_sun_map": 28,
    "film_map": 29,
}
"""Texture units that the renderer keeps bound; materials of their own take units from FIRST_FREE_UNIT on."""
FIRST_FREE_UNIT = 30

_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')
_LOCATIONS = (
    re.compile(r"\b0:(\d+)(?=\(\d+\))"),  # Mesa: 0:12(3)
    re.compile(r"(?<=ERROR: )0:(\d+)"),  # Apple, Intel: ERROR: 0:12
    re.compile(r"^0\((\d+)\)(?= :)", re.MULTILINE),  # NVIDIA: 0(12) : error
)


class _Files:
    """Shader files by name, each read once: many include the same ones."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._known: dict[str, list[tuple[int, list[str], str]]] = {}

    def parts(self, name: str, parent: str) -> list[tuple[int, list[str], str]]:
        """In order: the number of a row, from 1, the lines from there to the next include, and the file that this one
        includes or nothing; DisplayError where no folder has the file."""
        if name not in self._known:
            lines = self._read(name, parent).splitlines()
            includes = [
                (row, found.group(1)) for row, line in enumerate(lines) if (found := _INCLUDE.match(line))
            ]
            begins = [0, *(row + 1 for row, _ in includes)]
            ends = [*includes, (len(lines), "")]
            self._known[name] = [
                (begin + 1, lines[begin:end], included)
                for begin, (end, included) in zip(begins, ends, strict=True)
            ]
        return self._known[name]

    def _read(self, name: str, parent: str) -> str:
        for folder in self._folders:
            if (folder / name).is_file():
                return (folder / name).read_text(encoding="utf-8")
        asked = f", included by {parent}" if parent else ""
        raise DisplayError(f"no shader file {name}{asked}")


class _Source:
    """One stage's text, assembled from a file and what it includes, each once.

    The origin of every line is kept here instead of in #line directives, which drivers number in their own ways.
    """

    def __init__(self, files: "_Files", name: str, defines: Mapping[str, object]):
        self.name = name
        self._files = files
        head = ["#version 410 core"] + [f"#define {key} {value}" for key, value in sorted(defines.items())]
        self._pieces: list[tuple[str, int, list[str]]] = [("defines", 0, head)]
        """In order: of which file, from which of its rows, which lines."""
        self._read_files: set[str] = set()
        self._append(name, parent="")
        self.text = "\n".join("\n".join(lines) for _, _, lines in self._pieces) + "\n"

    def _append(self, name: str, parent: str) -> None:
        self._read_files.add(name)
        for row, lines, included in self._files.parts(name, parent):
            if lines:
                self._pieces.append((name, row, lines))
            if included and included not in self._read_files:
                self._append(included, name)

    def _origin(self, row: int) -> str:
        """Where a row of the text, from 0, comes from; nothing where there is none."""
        for name, first, lines in self._pieces:
            if 0 <= row < len(lines):
                return f"{name}:{first + row}" if first else name
            row -= len(lines)
        return ""

    def explain(self, message: str) -> str:
        """The compiler's message with file names and their own line numbers."""

        def origin(match: re.Match[str]) -> str:
            return self._origin(int(match.group(1)) - 1) or match.group(0)

        for pattern in _LOCATIONS:
            message = pattern.sub(origin, message)
        return message


class Programs:
    """Loads, links and keeps the programs of one context.

    `defines` are seen by every shader; sampler units and the block `Frame` are bound by name after linking.
    """

    def __init__(self, ctx: moderngl.Context, *, defines: Mapping[str, object], folders: Sequence[Path] = ()):
        self._ctx = ctx
        self._defines = dict(defines)
        self._more: dict[str, object] = {}
        self._files = _Files((*folders, SHADERS))
        self._programs: dict[tuple[object, ...], moderngl.Program] = {}

    def where(self, **defines: object) -> "Programs":
        """The same, whose shaders see these, too; what it loads is kept, and released, with the others."""
        found = copy(self)
        found._more = {**self._more, **defines}
        return found

    def load(self, vertex: str, fragment: str, **defines: object) -> moderngl.Program:
        """The program of two files, compiled once for each set of defines; DisplayError names file and line."""
        own = {**self._more, **defines}
        key = (vertex, fragment, *sorted(own.items()))
        if key not in self._programs:
            self._programs[key] = self._link(vertex, fragment, {**self._defines, **own})
        return self._programs[key]

    def load_transform(self, vertex: str, varyings: Sequence[str]) -> moderngl.Program:
        """A program of a vertex shader alone whose outputs `varyings` are captured into a buffer."""
        key = (vertex, *varyings)
        if key not in self._programs:
            self._programs[key] = self._link(vertex, None, self._defines, varyings)
        return self._programs[key]

    def _link(
        self, vertex: str, fragment: str | None, defines: Mapping[str, object], varyings: Sequence[str] = ()
    ) -> moderngl.Program:
        sources = [_Source(self._files, name, defines) for name in (vertex, fragment) if name is not None]
        texts = [source.text for source in sources]
        try:
            program = self._ctx.program(
                vertex_shader=texts[0],
                fragment_shader=None if fragment is None else texts[1],
                varyings=tuple(varyings),
            )
        except moderngl.Error as error:
            message = str(error)
            stage = sources[0] if "vertex_shader" in message else sources[-1]
            raise DisplayError(f"{' + '.join(s.name for s in sources)}: {stage.explain(message)}") from error
        for name, unit in SAMPLER_UNITS.items():
            if name in program:
                uniform(program, name).value = unit
        if "Frame" in program:
            cast(moderngl.UniformBlock, program["Frame"]).binding = FRAME_BINDING
        return program

    def release(self) -> None:
        """Free every program."""
        for program in self._programs.values():
            program.release()
        self._programs.clear()


def uniform(program: moderngl.Program, name: str) -> moderngl.Uniform:
    """A member of a program that is known to be a uniform. KeyError where the linker has removed it."""
    return cast(moderngl.Uniform, program[name])


class Releasable(Protocol):
    """Something of GL."""

    def release(self) -> None: ...


Thing = TypeVar("Thing", bound=Releasable)


class Resources(ExitStack):
    """Things of GL that are released together, the last one first, when it is closed."""

    def own(self, thing: Thing) -> Thing:
        """Release it with the others."""
        self.callback(thing.release)
        return thing


_BYTES = {"f": 4, "f1": 1, "f2": 2, "f4": 4, "i": 4, "i1": 1, "i2": 2, "u": 4, "u1": 1, "u2": 2}


def _padded(token: str) -> str:
    """`3f` as the padding of the same length, `12x`."""
    if token.endswith("x"):
        return token
    count = token[0] if token[0].isdigit() else "1"
    return f"{int(count) * _BYTES[token.removeprefix(count)]}x"


def vertex_array(
    ctx: moderngl.Context,
    program: moderngl.Program,
    content: Sequence[tuple[object, ...]],
    index: moderngl.Buffer | None = None,
) -> moderngl.VertexArray:
    """As `ctx.vertex_array`, but attributes that the linker removed become padding instead of an error."""
    kept = []
    for buffer, layout, *names in content:
        body, slash, rate = str(layout).partition("/")
        waiting = [str(name) for name in names]
        tokens, attributes = [], []
        for token in body.split():
            name = None if token.endswith("x") else waiting.pop(0)
            if name is not None and name in program:
                tokens.append(token)
                attributes.append(name)
            else:
                tokens.append(_padded(token))
        if attributes:
            kept.append((buffer, " ".join(tokens) + slash + rate, *attributes))
    return ctx.vertex_array(program, kept, index)
