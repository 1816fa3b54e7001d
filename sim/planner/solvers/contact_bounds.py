"""Which contacts a plan has in which of its steps, as bounds: what bears and what not, what sticks and what slides.

Of each two numbers of a step that do not go together the lesser is nothing (`sim.integrators.multibody`). With friction
a step may have several answers; plans keep out of doubt which of them the simulation finds.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from sim.planner.transcription.constraints import PART, PRODUCT
from sim.planner.transcription.transcription import ProgramBounds, Transcription
from sim.vehicles.forms.articulated import ArticulatedVehicle

NO_FORCE = 1e-5
"""Share of all weight below which a force is none."""
_APART_M, _LANDED_M = 1e-6, 1e-4
"""What touches without a force might as well bear one, where friction wedges: it is kept so far apart. Nearer than the
other where a step begins is there."""
_FIRM, _ASIDE = 1.1, 0.1
"""Shares of a known force and of a known gap that are planned at least."""
_CLEAR_M, _CLEARER = 2e-3, 4.0
"""Gap that counts as known, then so many times as large, of what lets go and the simulation holds."""
Contacts = dict[int, np.ndarray]
"""Parts of steps by their numbers, NaN what is left to an iterate."""


def touching(
    t: Transcription, p: np.ndarray, w: np.ndarray, known: Contacts | None = None, little: float = NO_FORCE
) -> ProgramBounds:
    """Bounds under which what touches in an iterate does, and nothing else: that stays apart by a little. A foot that
    bears is there, without a force, where its step begins, if it comes from close by.

    known: steps with other parts than the iterate's. little: share of all weight below which a force is none.
    """
    bounds = held(t, p, w, dict.fromkeys(range(t.shape.steps)) | (known or {}), little)
    bounds.row_high[[name == PRODUCT for name in _names(t)]] = np.inf
    return bounds


def aloft(t: Transcription) -> ProgramBounds:
    """Bounds under which nothing touches, whichever way it slips: slips ahead have any sign, `told_apart` makes two of
    them."""
    low, high = t.bounds.row_low.copy(), t.bounds.row_high.copy()
    high[[name == PRODUCT for name in _names(t)]] = np.inf
    rows = _parts(t)
    for touch in t.model.scheme.touches:
        low[rows[:-1, touch.gap]] = _APART_M
        high[rows[:, touch.force]] = 0.0
        for kept, *free in (*touch.spares, *(slips[::-1] for slips in touch.slips if touch.slides)):
            high[rows[:, kept]] = 0.0
            low[rows[:, free]], high[rows[:, free]] = -np.inf, np.inf
    return replace(t.bounds, row_low=low, row_high=high)


def told_apart(t: Transcription, w: np.ndarray) -> np.ndarray:
    """The variables with slips either ahead or back, of what was found with bounds of `aloft`."""
    running, last = t.split(w)
    running, count = running.copy(), sum(touch.slides for touch in t.model.scheme.touches)
    slips = t.model.state.size + t.model.controls.slice("z").stop - 2 * count
    ahead, back = running[:, slips : slips + count], running[:, slips + count : slips + 2 * count]
    ahead[:], back[:] = np.maximum(ahead - back, 0.0), np.maximum(back - ahead, 0.0)
    return t.join(running, last)


def bears(t: Transcription, p: np.ndarray, w: np.ndarray) -> bool:
    """Whether anything that touches in an iterate bears; first guesses let feet bear wherever they are."""
    gaps, forces = np.array([(touch.gap, touch.force) for touch in t.model.scheme.touches]).T
    values = t.program.constraints(w, p)[_parts(t)]
    return bool(((values[:, forces] > NO_FORCE) & (values[:, gaps] < _LANDED_M)).any())


def held(
    t: Transcription,
    p: np.ndarray,
    w: np.ndarray,
    steps: Mapping[int, np.ndarray | None],
    little: float = 0.0,
) -> ProgramBounds:
    """As `touching`, of some steps alone, whose parts are those given, or the iterate's."""
    low, high, values = t.bounds.row_low.copy(), t.bounds.row_high.copy(), t.program.constraints(w, p)
    parts, feet, touches = _parts(t), _feet(t), t.model.scheme.touches
    either = [pair for touch in touches for pair in touch.either]
    for k in sorted(steps):
        rows, seen = parts[k], steps[k]
        given = np.zeros(len(rows), bool) if seen is None else np.isfinite(seen)
        if seen is not None:
            values[rows[given]] = seen[given]
        matters = given if little == 0.0 else np.ones(len(rows), bool)
        nothing = {
            touch.force for touch in touches if matters[touch.force] and values[rows[touch.force]] <= little
        }
        for pair in either:
            if matters[list(pair)].all() and not nothing & set(pair):
                nothing.add(min(pair, key=lambda i: abs(values[rows[i]])))
        high[rows[sorted(nothing)]] = 0.0
        for touch in touches:
            gap, force, slips = touch.gap, touch.force, rows[sorted(nothing.intersection(touch.signed))]
            low[slips] = 0.0
            if force in nothing:
                # Friction leaves nothing on either side, which is one equation: as two, one of them a bound, a solver
                # has no way inside. What pushes has no need of it, and takes ten times the iterations with it.
                for one, other in touch.spares if gap < feet else ():
                    fixed, implied = (one, other) if one in nothing else (other, one)
                    high[rows[fixed]], low[rows[implied]], high[rows[implied]] = 0.0, -np.inf, np.inf
                aside = _ASIDE * values[rows[gap]] if given[gap] else 0.0
                low[rows[gap]] = max(_APART_M, aside) if k < len(parts) - 1 else 0.0
                continue
            if given[force]:
                low[rows[force]] = _FIRM * values[rows[force]]
            before = parts[k - 1][[gap, force]] if k and gap < feet else None
            if before is not None and high[before[1]] == 0.0 and values[before[0]] < _LANDED_M:
                low[before[0]] = high[before[0]] = 0.0
    return replace(t.bounds, row_low=low, row_high=high)


def revisions(
    t: Transcription, p: np.ndarray, w: np.ndarray, others: Contacts, known: Contacts
) -> Iterator[Contacts]:
    """Contacts by which the simulation may come to do what an iterate does, the likeliest first: a foot that bears
    without need, where the simulation goes by, has come without a force before the step begins; what it lets go, where
    the simulation takes hold, is further away. Then those of the simulation."""
    values, revised = t.program.constraints(w, p)[_parts(t)], Contacts()
    bears = values > NO_FORCE
    for k, seen in others.items():
        for touch in t.model.scheme.touches:
            gap, force, own = touch.gap, touch.force, touch.parts
            aloft = k > 0 and gap < _feet(t) and values[k - 1, gap] > _LANDED_M
            if aloft and bears[k, force] and seen[force] == 0.0:
                before = revised.setdefault(k - 1, np.full(len(seen), np.nan))
                before[own] = values[k - 1, own]
                before[gap] = before[force] = 0.0
            elif seen[force] > 0.0 and not bears[k, force]:
                clear = _CLEARER * known[k][gap] if k in known else 0.0
                aside = revised.setdefault(k, np.full(len(seen), np.nan))
                aside[own] = values[k, own]
                aside[gap] = max(_CLEAR_M, clear)
    if revised:
        yield revised
    yield others


def _feet(t: Transcription) -> int:
    """How many of the contacts are feet: the first ones."""
    vehicle = t.model.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    return len(t.model.scheme.touches) - len(vehicle.pushing.balls)


def _parts(t: Transcription) -> np.ndarray:
    """(N, parts) rows of all steps' parts."""
    return np.flatnonzero([name == PART for name in _names(t)]).reshape(t.shape.steps, -1)


def _names(t: Transcription) -> list[str]:
    """Of all rows."""
    return [row.name if row is not None else "" for _, row in t.row_labels()]
