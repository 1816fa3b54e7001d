"""Robots' files of no pattern, by all methods that serve them, against equations with multipliers of another program.

The other program, MuJoCo, gives mass matrix, forces and rows of the constraints; these are solved for accelerations
without its softness, and integrated by SciPy.
"""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import sim
from sim.multibody.observing import body_frames
from sim.multibody.robots.model import start_of
from sim.vehicles import enter_own, known_vehicle

SECONDS = 0.3
STEPS = {
    "variational": (5e-4, 2e-5),
    "rk4": (1e-3, 1e-8),
    "riqn-variable": (5e-4, 2e-5),
    "semi-implicit-euler": (1e-4, 2e-3),
}
"""Step [s] and what may be off [m and 1]; measured at most 6e-6, 1.2e-10, 6e-6 and 5.2e-4."""


def words(numbers):
    return " ".join(f"{number:.15g}" for number in numbers)


def drawn(rng):
    """Mass, centre and moments of a body of no symmetry."""
    A = rng.normal(size=(3, 3))
    C = 0.02 * (A @ A.T + np.eye(3))
    return rng.uniform(0.5, 2.0), 0.1 * rng.normal(size=3), np.trace(C) * np.eye(3) - C


def moments(J):
    return J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]


def mjcf(rng):
    """A tree of hinges, slides, balls and bodies that are free, with two equalities and a tendon."""
    n, names = int(rng.integers(4, 7)), []
    carried = [-1] + [int(rng.integers(-1, k)) for k in range(1, n)]

    def body(k):
        m, c, J = drawn(rng)
        place, turn = (
            0.4 * rng.normal(size=3),
            Rotation.from_rotvec(rng.normal(size=3)).as_quat(scalar_first=True),
        )
        kind = rng.choice(["hinge", "slide", "ball", "two"] + (["free"] if carried[k] < 0 else []))
        joints = "<freejoint/>" if kind == "free" else ""
        if kind == "ball":
            joints = f'<joint type="ball" pos="{words(0.1 * rng.normal(size=3))}" damping="{rng.uniform(0, 0.3)}"/>'
        for each in {"two": ("hinge", "hinge"), "hinge": ("hinge",), "slide": ("slide",)}.get(kind, ()):
            names.append(f"j{len(names)}")
            joints += (
                f'<joint name="{names[-1]}" type="{each}" axis="{words(rng.normal(size=3))}" '
                f'pos="{words(0.1 * rng.normal(size=3))}" damping="{rng.uniform(0, 0.3)}" '
                f'stiffness="{rng.uniform(0, 5)}" springref="{0.2 * rng.normal()}" armature="{rng.uniform(0, 0.1)}" '
                f'ref="{0.3 * rng.normal()}"/>'
            )
        inside = "".join(body(j) for j in range(n) if carried[j] == k)
        return (
            f'<body name="b{k}" pos="{words(place)}" quat="{words(turn)}">{joints}<inertial pos="{words(c)}" '
            f'mass="{m}" fullinertia="{words(moments(J))}"/><site name="s{k}" pos="{words(0.3 * rng.normal(size=3))}"/>'
            f"{inside}</body>"
        )

    bodies, closed = "".join(body(k) for k in range(n) if carried[k] < 0), ""
    for kind in rng.choice(["connect", "weld", "joint", "held"], 2):
        one, other = rng.choice(n, 2, replace=False)
        ends = f'body1="b{one}"' + (f' body2="b{other}"' if rng.random() < 0.6 else "")
        if kind == "connect":
            closed += f'<connect {ends} anchor="{words(0.2 * rng.normal(size=3))}"/>'
        elif kind == "weld":
            closed += f"<weld {ends}/>"
        elif kind == "joint" and len(names) > 1:
            follows, leads = rng.choice(names, 2, replace=False)
            by = words(rng.normal(size=4) * (1.0, 0.5, 0.3, 0.2))
            closed += f'<joint joint1="{follows}" joint2="{leads}" polycoef="0 {by}"/>'
        elif names:
            closed += f'<joint joint1="{rng.choice(names)}" polycoef="0"/>'
    one, other = rng.choice(n, 2, replace=False)
    length = rng.choice(["0.2", "0.1 0.5", "-1"])
    return (
        f'<mujoco><compiler angle="radian"/><worldbody>{bodies}</worldbody><tendon><spatial '
        f'stiffness="{rng.uniform(5, 40)}" damping="{rng.uniform(0, 3)}" springlength="{length}"><site site="s{one}"/>'
        f'<site site="s{other}"/></spatial></tendon><equality>{closed}</equality></mujoco>'
    )


def strung(rng):
    """The same with tendons through several sites and of several joints, of which lengths follow others."""
    text = mjcf(rng)
    sites, joints = re.findall(r'site name="(s\d+)"', text), re.findall(r'joint name="(j\d+)"', text)
    through = [
        f'<spatial name="t{k}" stiffness="{rng.uniform(5, 20)}" damping="{rng.uniform(0, 2)}" springlength="0.2">'
        + "".join(f'<site site="{site}"/>' for site in rng.permutation(sites)[: 2 + k])
        + "</spatial>"
        for k in (1, 2)
    ]
    shares = "".join(f'<joint joint="{joint}" coef="{rng.normal()}"/>' for joint in joints[:3])
    of_joints = (
        f'<fixed name="f" stiffness="{rng.uniform(1, 5)}" damping="0.2">{shares}</fixed>' if shares else ""
    )
    by = words(rng.normal(size=4) * (0.5, 0.3, 0.2, 0.1))
    leads = rng.choice(["t1", "f"] if shares else ["t1"])
    closed = f'<tendon tendon1="t2" tendon2="{leads}" polycoef="0 {by}"/>'
    text = text.replace("</tendon>", f"{through[0]}{through[1]}{of_joints}</tendon>")
    return re.sub("<equality>.*</equality>", f"<equality>{closed}</equality>", text)


def urdf(rng):
    """Two branches; slides that mimic hinges, in the other branch as well, and one that mimics what mimics another."""
    mimics = {1: ("j2", -0.2, 0.05), 2: ("j0", rng.normal(), 0.2 * rng.normal()), 3: ("j4", 0.3, 0.0)}
    links = '<link name="base"/>'
    for k, (kind, parent) in enumerate(
        [
            ("continuous", "base"),
            ("prismatic", "l0"),
            ("continuous", "l1"),
            ("prismatic", "base"),
            ("continuous", "l3"),
        ]
    ):
        m, c, J = drawn(rng)
        terms = " ".join(
            f'{name}="{value}"'
            for name, value in zip(("ixx", "iyy", "izz", "ixy", "ixz", "iyz"), moments(J), strict=True)
        )
        follows = '<mimic joint="{}" multiplier="{}" offset="{}"/>'.format(*mimics[k]) if k in mimics else ""
        limit = '<limit lower="-9" upper="9" effort="1" velocity="1"/>' if kind == "prismatic" else ""
        links += (
            f'<link name="l{k}"><inertial><origin xyz="{words(c)}" rpy="{words(rng.normal(size=3))}"/>'
            f'<mass value="{m}"/><inertia {terms}/></inertial></link><joint name="j{k}" type="{kind}"><origin '
            f'xyz="{words(0.4 * rng.normal(size=3))}" rpy="{words(rng.normal(size=3))}"/><parent link="{parent}"/>'
            f'<child link="l{k}"/><axis xyz="{words(rng.normal(size=3))}"/><dynamics damping="{rng.uniform(0, 0.3)}"/>'
            f"{limit}{follows}</joint>"
        )
    return f'<robot name="drawn">{links}</robot>'


class ByMultipliers:
    """The file's motion from where it stands, closed, with velocities that keep it so."""

    def __init__(self, mujoco, path, rng):
        self._mujoco, self.model = mujoco, mujoco.MjModel.from_xml_path(str(path))
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        self.model.jnt_limited[:] = 0
        self._data = mujoco.MjData(self.model)
        self.q, self.v = self.model.qpos0.copy(), 0.5 * rng.normal(size=self.model.nv)
        for _ in range(8 if self.model.nq == self.model.nv else 0):
            rows = self._rows(self.q)
            self.q -= np.linalg.pinv(rows) @ self._data.efc_pos[: self._data.ne]
        rows = self._rows(self.q)
        self.v -= np.linalg.pinv(rows) @ (rows @ self.v)

    def _rows(self, q):
        self._data.qpos[:] = q
        self._mujoco.mj_fwdPosition(self.model, self._data)
        return self._data.efc_J.reshape(-1, self.model.nv)[: self._data.ne].copy()

    def _moved(self, q, v, seconds):
        q = q.copy()
        self._mujoco.mj_integratePos(self.model, q, v, seconds)
        return q

    def _rate(self, _, y):
        q, v, s = y[: self.model.nq], y[self.model.nq :], 1e-6
        ahead, behind = (self._moved(q, v, sign * s) for sign in (1.0, -1.0))
        bends = (self._rows(ahead) @ v - self._rows(behind) @ v) / (2.0 * s)
        rows, data = self._rows(q), self._data
        data.qvel[:] = v
        self._mujoco.mj_fwdVelocity(self.model, data)
        mass = np.zeros((self.model.nv, self.model.nv))
        for k, one in enumerate(np.eye(self.model.nv)):
            self._mujoco.mj_mulM(self.model, data, mass[k], one)
        free = np.linalg.solve(mass, data.qfrc_passive - data.qfrc_bias)
        answers = np.linalg.solve(mass, rows.T)
        held = np.linalg.lstsq(rows @ answers, -(rows @ free + bends), rcond=1e-9)[0]
        return np.r_[(ahead - behind) / (2.0 * s), free + answers @ held]

    def ended(self):
        """(R, x) of each body by its name."""
        run = solve_ivp(
            self._rate, (0.0, SECONDS), np.r_[self.q, self.v], method="DOP853", rtol=1e-10, atol=1e-11
        )
        self._rows(run.y[: self.model.nq, -1])
        return {
            self.model.body(k).name: (self._data.xmat[k].reshape(3, 3).copy(), self._data.xpos[k].copy())
            for k in range(1, self.model.nbody)
        }


@pytest.mark.parametrize(
    ("written", "seed"),
    [*((mjcf, k) for k in range(6)), (urdf, 0), (urdf, 1), *((strung, k) for k in range(5))],
)
def test_a_file_of_no_pattern_moves_by_its_equations(tmp_path, registry, written, seed):
    """Hinges, slides, balls and free bodies with springs, dampers and rotors; what connects, welds and leads them."""
    mujoco = pytest.importorskip("mujoco")
    rng = np.random.default_rng(seed)
    path = tmp_path / f"drawn-{written.__name__}-{seed}.{'urdf' if written is urdf else 'xml'}"
    path.write_text(written(rng))
    robot, other = sim.read_robot(path), ByMultipliers(mujoco, path, rng)
    assert robot.notes == ()
    wanted, start = other.ended(), start_of(robot.tree, other.q, other.v)
    vehicle = known_vehicle(enter_own(str(path)), hold=0.0)
    for method, (step, most) in STEPS.items():
        run = sim.simulate(
            vehicle, method, step=step, duration=SECONDS, initial=vehicle.state(start.q, start.v)
        )
        found = body_frames(robot.tree, run.nodes[-1, : robot.tree.nq])
        off = max(
            max(np.abs(found[name][:3, :3] - R).max(), np.abs(found[name][:3, 3] - x).max())
            for name, (R, x) in wanted.items()
            if name in found
        )
        assert off < most, method
        assert np.abs(vehicle.closure.gaps(run.nodes[-1, : robot.tree.nq])).max(initial=0.0) < 1e-9
