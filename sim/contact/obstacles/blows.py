"""What is to be seen and heard of bodies that strike, slide and fall into water: when, where, how hard, and of what.

Nothing of it acts on anything: it is read off a pile's steps, and forgotten after a while.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from sim.platform.values import dataclass
from sim.vehicle_config.config import MATERIALS

if TYPE_CHECKING:  # whoever only reads blows loads no kernels of bodies that touch
    from sim.contact.bodies import Pile

GROUND, WATER = "ground", "water"
SURFACES = (GROUND, *MATERIALS)
"""What solid things are struck on."""
STRUCK_MPS, SLIDES_MPS = 0.4, 1.5
"""Less of a change of velocity within a step, or of slip, is nothing."""
_DIPS_MPS = 0.8
_BEARS = 0.2
"""Of its weight, which a contact has to bear for its slip to be seen."""
_QUIET_S, _SLIDES_EVERY_S = 0.12, 0.08
"""A body that has struck strikes anew after that, or harder."""
_LEAST_NS, _RUBS_KG, _FALLS_MPS2, _KG_M3 = 0.05, 2.0, 9.81, 1000.0
"""Of a vehicle's body: what is less is no blow, and what bears less slides without being heard; density of what a blow
tells a size of."""
_MOST = 160
"""That are kept."""


@dataclass(frozen=True, slots=True)
class Blow:
    """One body strikes another, slides along it, or falls into water."""

    number: int
    """They are counted."""
    time_s: float
    """Simulated."""
    place_w: tuple[float, float, float]
    struck_mps: float
    """By which the velocity of the one was changed; of what falls into water, how fast it does. 0: it slides."""
    mass_kg: float
    slip_w: tuple[float, float, float]
    """m/s along what it touches."""
    of: str
    """Its material."""
    on: str
    """That of what it strikes: one of MATERIALS, GROUND or WATER."""
    size_m: float
    """Edge of a cube of its volume."""


class _Log:
    """Blows as they come, numbered."""

    def __init__(self) -> None:
        self._kept: deque[Blow] = deque(maxlen=_MOST)
        self._number = 0

    @property
    def kept(self) -> tuple[Blow, ...]:
        """The last ones, the latest last."""
        return tuple(self._kept)

    def _keep(
        self,
        time_s: float,
        place_w: np.ndarray,
        struck: float,
        mass_kg: float,
        slip_w: np.ndarray,
        materials: tuple[str, str],
        size_m: float,
    ) -> None:
        """materials: of what strikes, and of what it strikes on."""
        self._number += 1
        (x, y, z), (u, v, w) = place_w.tolist(), slip_w.tolist()
        told = (x, y, z), struck, float(mass_kg), (u, v, w), *materials, float(size_m)
        self._kept.append(Blow(self._number, time_s, *told))


class Blows(_Log):
    """Of the props of a pile, each step of which is told by `note` and, where there is water, by `dip`."""

    def __init__(self, pile: "Pile", materials: tuple[str, ...], visitors: str = "metal") -> None:
        """materials: of the first of its props; others are of stone. visitors: what those are of."""
        self._pile = pile
        self.materials = (
            *materials,
            *("stone" for _ in pile.props[len(materials) :]),
            *(visitors for _ in pile.solids[len(pile.props) :]),
        )
        self._count = len(materials)
        self._sizes_m = [solid.volume_m3 ** (1.0 / 3.0) for solid in pile.solids]
        super().__init__()
        self.forget()

    def forget(self) -> None:
        """Time goes on from another moment."""
        self._kept.clear()
        self._quiet_s, self._hardest = np.full(self._count, -np.inf), np.zeros(self._count)
        self._wet: np.ndarray | None = None
        self._begun = np.zeros(self._count, np.bool_)
        """Who has begun to strike in the step before: a blow takes the one in which bodies meet, and the next."""
        self._before_w, self._given_Ns = np.zeros((self._count, 3)), np.zeros(self._count)

    def note(self, before: np.ndarray, h: float, time_s: float, held: int) -> None:
        """The pile's last step, before which its state was that; held: what a hand pulls, which tells nothing."""
        pile, n = self._pile, self._count
        state, mass = pile.state[:n], pile.mass_kg[:n]
        fallen = np.array([0.0, 0.0, pile.gravity_mps2 * h])
        changed = _lengths(state[:, 15:18] - before[:n, 15:18] + fallen)
        quiet = time_s < self._quiet_s
        slides = (_lengths(before[:n, 15:18]) > SLIDES_MPS) & ~quiet
        loud = (mass > 0.0) & ((changed > STRUCK_MPS) | slides | self._begun)
        if held >= 0:
            loud[held] = False
        ended = self._begun & loud
        self._begun = loud & ~ended & (changed > STRUCK_MPS)
        if not loud.any():
            return
        both = _lengths(state[:, 15:18] - self._before_w + 2.0 * fallen)
        self._before_w[self._begun] = before[:n, 15:18][self._begun]
        contacts = pile.contacts
        forces = _lengths(contacts[:, 5:8])
        pairs = contacts[:, :2].astype(np.int64)
        for k in np.flatnonzero(loud).tolist():
            own = np.flatnonzero((pairs == k).any(axis=1))
            given_Ns = float(forces[own].sum()) * h
            if self._begun[k]:
                self._given_Ns[k] = given_Ns
            if self._begun[k] or not len(own):
                continue
            at = own[np.argmax(forces[own])]
            other = int(pairs[at].sum()) - k
            struck = min(float(both[k]), (self._given_Ns[k] + given_Ns) / mass[k]) if ended[k] else 0.0
            if struck > STRUCK_MPS and (not quiet[k] or struck > 1.5 * self._hardest[k]):
                slip = self._slip(before, k, other, contacts[at])
                self._hardest[k], self._quiet_s[k] = struck, time_s + _QUIET_S
            elif slides[k]:
                slip, struck = self._slip(before, k, other, contacts[at]), 0.0
                self._quiet_s[k], self._hardest[k] = time_s + _SLIDES_EVERY_S, 0.0
                bears = forces[at] > _BEARS * pile.gravity_mps2 * mass[k]
                if not bears or float(slip @ slip) < SLIDES_MPS**2:
                    continue
            else:
                continue
            place = contacts[at, 2:5]
            self._add(time_s, place, struck, k, slip, GROUND if other < 0 else self.materials[other])

    def dip(self, wrenches: np.ndarray, time_s: float) -> None:
        """What water does to the bodies, (n, 6), before a step: those that were dry fall into it."""
        state = self._pile.state[: self._count]
        wet = np.abs(wrenches[: self._count, 3:]).max(axis=1, initial=0.0) > 0.0
        dry = np.zeros(self._count, np.bool_) if self._wet is None else ~self._wet
        self._wet = wet
        for k in np.flatnonzero(wet & dry & (state[:, 17] < -_DIPS_MPS)).tolist():
            self._add(time_s, state[k, 9:12], float(-state[k, 17]), k, state[k, 15:18] * [1, 1, 0], WATER)

    def _slip(self, before: np.ndarray, body: int, other: int, contact: np.ndarray) -> np.ndarray:
        """(3,) of a prop along what it touches; 0 along visitors, whose velocity is not at hand."""
        if other >= len(self._pile.props):
            return np.zeros(3)
        place, normal = contact[2:5], contact[8:11]
        slip = self._velocity(before, body, place) - self._velocity(before, other, place)
        return np.asarray(slip - normal * (normal @ slip))

    def _velocity(self, before: np.ndarray, body: int, place_w: np.ndarray) -> np.ndarray:
        """(3,) of a prop at a place of it, or of the ground."""
        if body < 0:
            return np.zeros(3)
        row = before[body]
        (a, b, c), (x, y, z) = row[12:15].tolist(), (place_w - row[9:12]).tolist()
        return row[15:18] + np.array([b * z - c * y, c * x - a * z, a * y - b * x])

    def _add(
        self, time_s: float, place: np.ndarray, struck: float, body: int, slip: np.ndarray, on: str
    ) -> None:
        size_m, materials = self._sizes_m[body], (self.materials[body], on)
        self._keep(time_s, place, struck, self._pile.mass_kg[body], slip, materials, size_m)


class VehicleBlows(_Log):
    """Of a vehicle's own bodies, told at moments a control period apart where they are and what has borne since.

    How hard is how much the velocity of the touched point has changed along the normal, as its mean over the period
    before the touch and after: what it weighs there is the impulse by that.
    """

    def __init__(self, material: str) -> None:
        super().__init__()
        self._material = material
        self.forget()

    def forget(self, material: str = "") -> None:
        """The vehicle, perhaps of another material, goes on from elsewhere."""
        self._material = material or self._material
        self._kept.clear()
        self._poses: list[tuple[float, np.ndarray]] = []
        self._passed: list[tuple[float, Callable[[], np.ndarray]]] = []
        """The latest moments at which nothing was touched, with what finds out where the bodies were."""
        self._begun: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        """By body: its contact, and the touched point's velocity before."""
        self._quiet: dict[int, tuple[float, float]] = {}
        """By body: until when it has to strike harder than that to strike anew."""

    @property
    def waits(self) -> bool:
        """Whether a blow has begun, which takes this period and the next."""
        return bool(self._begun)

    def pass_by(self, time_s: float, poses_w: Callable[[], np.ndarray]) -> None:
        """Nothing is touched; where the bodies are is asked once something is."""
        self._passed = [*self._passed[-1:], (time_s, poses_w)]

    def _catch_up(self) -> None:
        self._poses = [*self._poses, *((time_s, poses_w()) for time_s, poses_w in self._passed)][-2:]
        self._passed = []

    def moved_on(self, borne: np.ndarray, poses_w: np.ndarray) -> np.ndarray:
        """Contacts as they were when the bodies were told of last, with those at poses (n, 4, 4) now."""
        self._catch_up()
        if not len(borne) or not self._poses:
            return borne[:0]
        which, found = borne[:, 0].astype(np.int64), borne.copy()
        then, now = self._poses[-1][1][which], poses_w[which]
        at_b = np.einsum("nji,nj->ni", then[:, :3, :3], borne[:, 1:4] - then[:, :3, 3])
        found[:, 1:4] = np.einsum("nij,nj->ni", now[:, :3, :3], at_b) + now[:, :3, 3]
        return found

    def note(self, time_s: float, poses_w: np.ndarray, borne: np.ndarray) -> None:
        """Where the bodies (n, 4, 4) are, and contacts (k, BORNE) that have borne since they were told of last, with
        them where they are now."""
        begun, self._begun = self._begun, {}
        self._catch_up()
        self._poses = [*self._poses[-2:], (time_s, poses_w)]
        if len(self._poses) < 3 or not (len(borne) or begun) or not np.isfinite(poses_w).all():
            return
        hardest: dict[int, np.ndarray] = {}
        for row in borne:
            body = int(row[0])
            known = hardest.get(body)
            given_Ns = row[7] if known is None else row[7] + known[7]
            if known is None or row[7] > known[9]:
                hardest[body] = known = np.append(row, row[7])
            known[7] = given_Ns
        for body in hardest.keys() | begun.keys():
            self._tell(time_s, body, hardest.get(body), begun.get(body))

    def _tell(
        self,
        time_s: float,
        body: int,
        touched: np.ndarray | None,
        begun: tuple[np.ndarray, np.ndarray] | None,
    ) -> None:
        """A blow takes the period in which bodies meet, and the next."""
        if begun is not None:
            contact, before_w = begun
            place, normal = contact[1:4], contact[4:7]
            contact[1:4] = place_w = place + (self._velocity(body, place, 2) * self._period_s)
            after_w = self._velocity(body, place_w, 2)
            contact[7] += 0.0 if touched is None else touched[7]
        elif touched is not None:
            contact, place_w, normal = touched, touched[1:4], touched[4:7]
            before_w, after_w = self._velocity(body, place_w, 1), self._velocity(body, place_w, 2)
        else:
            return
        struck = abs(float(normal @ (after_w - before_w)))
        slip = after_w - normal * (normal @ after_w) if contact[8] >= 0.0 else np.zeros(3)
        quiet_s, hardest = self._quiet.get(body, (-np.inf, 0.0))
        if struck > STRUCK_MPS and contact[7] > _LEAST_NS:
            if begun is None:
                self._begun[body] = contact, before_w
            elif time_s >= quiet_s or struck > 1.5 * hardest:
                self._quiet[body] = time_s + _QUIET_S, struck
                self._add(time_s - self._period_s, contact, struck, contact[7] / struck, slip)
        elif time_s >= quiet_s and float(slip @ slip) > SLIDES_MPS**2:
            borne_kg = contact[7] / (_FALLS_MPS2 * self._period_s)
            if borne_kg > _RUBS_KG:
                self._quiet[body] = time_s + _SLIDES_EVERY_S, 0.0
                self._add(time_s, contact, 0.0, borne_kg, slip)

    @property
    def _period_s(self) -> float:
        return self._poses[-1][0] - self._poses[-2][0]

    def _velocity(self, body: int, place_w: np.ndarray, period: int) -> np.ndarray:
        """(3,) mean over a period, 1 or 2 of the two last, of a body's point that is at a place now."""
        (begin_s, begin), (end_s, end) = self._poses[period - 1], self._poses[period]
        now = self._poses[-1][1][body]
        at_b = now[:3, :3].T @ (place_w - now[:3, 3])
        moved = (end[body] - begin[body])[:3]
        return np.asarray((moved[:, :3] @ at_b + moved[:, 3]) / (end_s - begin_s))

    def _add(
        self, time_s: float, contact: np.ndarray, struck: float, mass_kg: float, slip: np.ndarray
    ) -> None:
        on, size_m = SURFACES[abs(int(contact[8]))], (mass_kg / _KG_M3) ** (1.0 / 3.0)
        self._keep(time_s, contact[1:4], struck, mass_kg, slip, (self._material, on), size_m)


def _lengths(rows: np.ndarray) -> np.ndarray:
    """(n,) of (n, 3)."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))
