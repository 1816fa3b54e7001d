"""The light on still things, from the cache."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import current_thread, main_thread

import moderngl
import numpy as np
import pytest

from render.land.mapped import BakedMap, MappedLand
from render.land.mesh import Chunk
from render.land.scenery import Scenery
from render.land.still_world import StillWorld
from render.light import Light, Sun
from render.passes import still_light
from render.passes.targets import Canvas
from render.renderer import Renderer
from tests.render.small_world import small_frame, small_scenery, small_world

SIZE = (160, 100)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[int]:
    """How often light was drawn, in a cache of its own."""
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    monkeypatch.setattr("render.passes.still_light.is_software", lambda ctx: True)
    calls: list[int] = []
    bake = StillWorld.bake

    def counted(still_world: StillWorld, light: Light, *, maps_only: bool) -> Iterator[None]:
        calls.append(1)
        yield from bake(still_world, light, maps_only=maps_only)

    monkeypatch.setattr(StillWorld, "bake", counted)
    return calls


def picture(ctx: moderngl.Context, scenery: Scenery, quality: str, sun: Sun) -> np.ndarray:
    renderer = Renderer(ctx, SIZE, small_world(), quality=quality, scenery=scenery, sun=sun)
    canvas = Canvas(ctx, SIZE)
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    image = canvas.image()
    canvas.release()
    renderer.release()
    return image


@pytest.mark.parametrize("quality", ["software", "medium"])
def test_kept_light_gives_the_same_picture_to_the_bit_and_another_sun_another(
    ctx: moderngl.Context, drawn: list[int], quality: str
) -> None:
    scenery, sun = replace(small_scenery(), key="of-this-test"), Sun()
    first = picture(ctx, scenery, quality, sun)
    assert len(drawn) == 1
    np.testing.assert_array_equal(picture(ctx, scenery, quality, sun), first)
    assert len(drawn) == 1
    lower = replace(sun, elevation_rad=0.5 * sun.elevation_rad)
    assert (picture(ctx, scenery, quality, lower) != first).any()
    assert len(drawn) == 2


def test_kept_light_is_read_by_a_thread_and_its_levels_are_not_averaged_anew(
    ctx: moderngl.Context, drawn: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    scenery, averaged, readers = replace(small_scenery(), key="of-this-test"), [], []
    average, read = BakedMap.average, still_light.kept_arrays

    def counted(canvas: moderngl.Framebuffer) -> None:
        averaged.append(canvas.size)
        average(canvas)

    def noted(kind: str, name: str) -> dict[str, np.ndarray] | None:
        readers.append(current_thread())
        return read(kind, name)

    monkeypatch.setattr(BakedMap, "average", staticmethod(counted))
    monkeypatch.setattr(still_light, "kept_arrays", noted)
    for maps in (1, 0):
        averaged.clear()
        picture(ctx, scenery, "software", Sun())
        assert len(averaged) == maps
    assert len(drawn) == 1
    assert len(readers) == 2
    assert main_thread() not in readers


def test_what_was_put_together_by_hand_is_not_kept(ctx: moderngl.Context, drawn: list[int]) -> None:
    for _ in range(2):
        picture(ctx, small_scenery(), "software", Sun())
    assert len(drawn) == 2


@pytest.mark.parametrize("quality", ["software", "medium"])
def test_light_made_in_shares_between_other_pictures_is_that_made_at_once_to_the_bit(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, quality: str
) -> None:
    world, scenery = small_world(), small_scenery()
    given = {"quality": quality, "scenery": scenery, "sun": Sun()}
    canvas = Canvas(ctx, SIZE)
    other = Renderer(ctx, SIZE, world, quality=quality, sun=Sun(elevation_rad=0.2), scenery=scenery)
    whole = Renderer(ctx, SIZE, world, **given)
    whole.draw(small_frame(SIZE), canvas.framebuffer)
    at_once, light = canvas.image(), [land.lit() for land in whole._still_world._land]

    most, shares = 50_000, []
    lay_out = MappedLand._lay_out

    def counted(land: MappedLand, canvas: moderngl.Framebuffer, chunks: Sequence[Chunk]) -> None:
        shares.append(len(chunks) * canvas.width * canvas.height / len(land._mesh.chunks))
        lay_out(land, canvas, chunks)

    monkeypatch.setattr("render.land.mapped.MAPPED_AT_ONCE", most)
    monkeypatch.setattr(MappedLand, "_lay_out", counted)
    renderer = Renderer(ctx, SIZE, world, **given, lit_later=True)
    assert shares == []
    steps = lit_after = 0
    while renderer.light_up():
        steps += 1
        if renderer.lit and not lit_after:
            lit_after, (first, *_) = steps, (land.lit() for land in renderer._still_world._land)
            if quality == "software":
                assert 15 < light[0]["map"].size / first["map"].size < 17
        baked = len(shares)
        other.draw(small_frame(SIZE), canvas.framebuffer)
        assert len(shares) == baked
    if quality == "software":
        assert len(shares) > 2, "the world is too small to tell"
        assert 0.5 * most < max(shares) <= most
    assert steps >= len(shares)  # so that no step bakes two
    assert 0 < lit_after < steps if quality == "software" else renderer.lit
    for mine, wanted in zip((land.lit() for land in renderer._still_world._land), light, strict=True):
        assert mine.keys() == wanted.keys()
        for name in wanted:
            np.testing.assert_array_equal(mine[name], wanted[name])
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    np.testing.assert_array_equal(canvas.image(), at_once)
    for each in (renderer, whole, other):
        each.release()
    canvas.release()


@pytest.mark.parametrize("quality", ["software", "medium"])
def test_another_hour_comes_in_shares_roughly_first_and_no_part_is_lit_half_by_either(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch, quality: str
) -> None:
    monkeypatch.setattr("render.land.mapped.MAPPED_AT_ONCE", 50_000)
    for module in ("mapped", "terrain"):
        monkeypatch.setattr(f"render.land.{module}.CAST_AT_ONCE", 500)
    world, scenery, lower = small_world(), small_scenery(), Sun(elevation_rad=0.3)
    given = {"quality": quality, "scenery": scenery}
    canvas = Canvas(ctx, SIZE)

    def parts(renderer: Renderer) -> dict[str, bytes]:
        light = {**renderer._shadows.lit, **renderer._still_world.lit}
        return {
            f"{part} {name}": array.tobytes()
            for part, lit in light.items()
            for name, array in lit.lit().items()
        }

    there = Renderer(ctx, SIZE, world, **given, sun=lower)
    there.draw(small_frame(SIZE), canvas.framebuffer)
    at_once, after = canvas.image(), parts(there)
    renderer = Renderer(ctx, SIZE, world, **given, sun=Sun(), lit_later=True)
    while renderer.light_up():
        pass
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    before, earlier, steps = parts(renderer), canvas.image(), 0
    coarse: dict[str, bytes] = {}
    came = 0
    assert before["shadow depth"] != after["shadow depth"]
    renderer.set_sun(lower)
    while renderer.light_up():
        steps += 1
        renderer.resize(SIZE)  # else the same frame is only copied
        renderer.draw(small_frame(SIZE), canvas.framebuffer)
        now = parts(renderer)
        if now not in (before, after):
            coarse, came = coarse or now, came or steps
            assert now == coarse, f"after step {steps}"
            other = [part for part in now if now[part] != after.get(part)]
            assert other
            assert all(part.startswith("land 0 map") for part in other)
            assert 15 < len(after["land 0 map"]) / len(now["land 0 map"]) < 17
            continue
        assert now == after or not coarse
        np.testing.assert_array_equal(canvas.image(), earlier if now == before else at_once)
    assert steps > 3
    assert bool(coarse) == (quality == "software")
    assert came < steps
    assert parts(renderer) == after
    renderer.draw(small_frame(SIZE), canvas.framebuffer)
    np.testing.assert_array_equal(canvas.image(), at_once)
    for each in (renderer, there, canvas):
        each.release()
