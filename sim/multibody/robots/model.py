"""What mujoco's parser made of a file, as a tree of joints with shapes and motors."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from sim.groups.numeric import pose_matrix, triple
from sim.multibody.arrays import FREE
from sim.multibody.declaration import WORLD, Body, Gear, Joint, Loop, Tendon, TreeState
from sim.multibody.robots.files import MOST_BODIES
from sim.multibody.robots.motors import driven, efforts, held, is_cut_off, motors
from sim.multibody.robots.robot import SHAPES, Apart, Geom, Robot
from sim.multibody.robots.tendons import Tendons, polynomial, with_inertias
from sim.multibody.robots.urdf import Inertial
from sim.multibody.tree import Tree, tree, with_springs
from sim.platform.errors import InputError, one_of, quote

_KINDS = ("free", "ball", "prismatic", "revolute")
"""By mujoco's number of a joint's type."""
_SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}
_EQUALITIES = ("connect", "weld", "joint", "tendon")
_SLIDE = 2
"""From this number of a joint's type on it is a slide or a hinge."""
_CONNECT, _WELD, _JOINTS, _TENDONS = 0, 1, 2, 3
_SITE = 6
"""By mujoco's number of an object's type."""
_GREY = (0.5, 0.5, 0.5, 1.0)
_HIDDEN_GROUP = 3
"""From this one on mujoco's viewers hide shapes."""


def robot_of(
    model: Any,
    name: str,
    collides: np.ndarray,
    inertials: Mapping[str, Inertial] | None,
    parents: Mapping[str, str],
    notes: Iterable[str],
) -> Robot:
    """A robot of a compiled MjModel. Raises InputError.

    collides (ngeom, 2): contype and conaffinity of its shapes. inertials: of a URDF's links, read beside it. parents:
    of bodies that hang on others than the model says.
    """
    if model.nbody > MOST_BODIES:
        raise InputError(f"has {model.nbody} bodies; allowed: {MOST_BODIES}")
    bodies = _Bodies(model, inertials, parents)
    gravity = np.zeros(3) if model.opt.disableflags & _flag("GRAVITY") else model.opt.gravity
    if not bodies.declared:
        floats = "; with :free after the file's name its root floats" if model.nbody > 1 else ""
        raise InputError(f"has no joint{floats}")
    declared = tree(bodies.declared, triple(gravity))
    tendons = Tendons(model, bodies.carrier, bodies.joints, declared)
    inertias = tuple(tendons.inertias())
    if inertias:
        declared = tree([*bodies.declared, *inertias], triple(gravity))
    declared = with_springs(declared, (*tendons.springs(), *_stiffening(model, bodies)))
    return Robot(
        name=name,
        tree=declared,
        geoms=tuple(_geoms(model, bodies, np.asarray(collides.any(axis=1)), inertials is not None)),
        motors=tuple(
            efforts(model, bodies.joints)
            if inertials is not None
            else motors(model, bodies.joints, tendons.driven_names)
        ),
        start=start_of(declared, model.qpos0, np.zeros(model.nv)),
        keyframes={
            _name(model.key(k).name, f"keyframe {k}"): start_of(
                declared, model.key_qpos[k], model.key_qvel[k]
            )
            for k in range(model.nkey)
        },
        step_s=float(model.opt.timestep),
        notes=(*notes, *_left_out(model, bodies, tendons)),
        loops=(*_loops(model, bodies, tendons), *tendons.inertia_gears()),
        loose=tuple(body.name for body in inertias),
        apart=_apart(model, bodies, collides),
    )


def _stiffening(model: Any, bodies: "_Bodies") -> Iterable[Tendon]:
    """Of hinges and slides whose springs are no straight line: what is bent about them."""
    for j in np.flatnonzero(np.any(model.jnt_stiffnesspoly, axis=1) & (model.jnt_type >= _SLIDE)):
        _, *bent = polynomial(model.jnt_stiffness[j], model.jnt_stiffnesspoly[j])
        rest = float(model.qpos_spring[model.jnt_qposadr[j]])
        yield Tendon((), {bodies.joints[j]: 1.0}, (0.0, bent[0], bent[1]), rest=rest)


def _apart(model: Any, bodies: "_Bodies", collides: np.ndarray) -> Apart:
    names = [bodies.carrier(int(i))[0] for i in model.geom_bodyid]
    excluded = {
        frozenset(bodies.carrier(i)[0] for i in (signature >> 16, signature & 0xFFFF))
        for signature in model.exclude_signature.tolist()
    }
    bits: dict[str, set[tuple[int, int]]] = {}
    for name, (kind, others) in zip(names, collides.tolist(), strict=True):
        bits.setdefault(name, set()).add((kind, others))
    return Apart(frozenset(excluded), bits)


def _flag(what: str) -> int:
    import mujoco

    return int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{what}"))


def _name(given: str, otherwise: str) -> str:
    return given or otherwise


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    return Rotation.from_quat(quaternion, scalar_first=True).as_matrix()


def _pose(position: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    return pose_matrix(_rotation(quaternion), position)


class _Bodies:
    """The declared bodies, and where those that do not move stand."""

    def __init__(
        self, model: Any, inertials: Mapping[str, Inertial] | None, parents: Mapping[str, str]
    ) -> None:
        self._inertials = inertials
        self.declared: list[Body] = []
        self.names = [WORLD] + [_name(model.body(i).name, f"body {i}") for i in range(1, model.nbody)]
        self.joints = self._joint_names(model)
        numbers = {name: i for i, name in enumerate(self.names)} if parents else {}
        self.still = {0: np.eye(4)}
        """Pose in the world of bodies without any joint below them."""
        for i in range(1, model.nbody):
            first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
            parent = int(model.body_parentid[i])
            if self.names[i] in parents:
                parent = numbers[parents[self.names[i]]]
            T = _pose(model.body_pos[i], model.body_quat[i])
            if parent in self.still:
                T = self.still[parent] @ T
            if count == 0 and parent in self.still:
                self.still[i] = T
                continue
            joints = tuple(self._joint(model, j) for j in range(first, first + count)) or (Joint("fixed"),)
            if joints[0].kind == "free":
                T = np.eye(4)  # its coordinates are the body's place in the world
            self.declared.append(
                self._body(model, i, WORLD if parent in self.still else self.names[parent], T, joints)
            )

    def carrier(self, i: int) -> tuple[str, np.ndarray]:
        """(name of body i or the world, pose of body i in it)."""
        return (WORLD, self.still[i]) if i in self.still else (self.names[i], np.eye(4))

    def _joint_names(self, model: Any) -> list[str]:
        taken = {model.joint(j).name for j in range(model.njnt)}
        names = []
        for j in range(model.njnt):
            i = int(model.jnt_bodyid[j])
            alone = model.body_jntnum[i] == 1
            base = self.names[i] if alone else f"{self.names[i]} {j - model.body_jntadr[i] + 1}"
            name = model.joint(j).name or next(
                x for x in (base, f"joint of {base}", f"joint {j} of {base}") if x not in taken
            )
            taken.add(name)
            names.append(name)
        return names

    def _joint(self, model: Any, j: int) -> Joint:
        kind, at = _KINDS[model.jnt_type[j]], int(model.jnt_dofadr[j])
        if kind == "free":
            return Joint("free", name=self.joints[j])
        damping, stiffness = float(model.dof_damping[at]), float(np.atleast_1d(model.jnt_stiffness[j])[0])
        common: dict[str, Any] = {
            "armature": float(model.dof_armature[at]),
            "anchor": triple(model.jnt_pos[j]),
            "name": self.joints[j],
        }
        if kind == "ball":
            return Joint("ball", damping=damping, stiffness=stiffness, **common)
        q = int(model.jnt_qposadr[j])
        low, high = model.jnt_range[j] if model.jnt_limited[j] else (-np.inf, np.inf)
        stiffness, rest, braked = held(model, j, stiffness, float(model.qpos_spring[q]))
        return Joint(
            kind,
            axis=triple(model.jnt_axis[j]),
            reference=float(model.qpos0[q]),
            damping=damping + braked,
            stiffness=stiffness,
            rest=rest,
            limits=(float(low), float(high)),
            **common,
        )

    def _body(self, model: Any, i: int, parent: str, T: np.ndarray, joints: tuple[Joint, ...]) -> Body:
        if self._inertials is not None:
            inertial = self._inertials[self.names[i]]
        else:
            R = _rotation(model.body_iquat[i])
            J = (R * model.body_inertia[i]) @ R.T
            inertial = Inertial(float(model.body_mass[i]), triple(model.body_ipos[i]), J)
        at, free = int(model.body_dofadr[i]), joints[0].kind == "free"
        rotor = float(model.dof_armature[at]) if free else 0.0
        return Body(
            self.names[i],
            parent,
            joints,
            position=triple(T[:3, 3]),
            R=T[:3, :3],
            mass=inertial.mass,
            centre=inertial.centre,
            inertia=inertial.inertia,
            added_inertia=rotor * np.eye(6) if rotor else None,
        )


def _coordinates(declared: Tree, qpos: np.ndarray) -> np.ndarray:
    """(nq,) of mujoco's: a free joint's has the position first there."""
    q = np.array(qpos, float)
    for i in np.flatnonzero(declared.arrays.kind == FREE):
        at = int(declared.arrays.q_at[i])
        q[at : at + 7] = np.r_[qpos[at + 3 : at + 7], qpos[at : at + 3]]
    return q


def _velocities(declared: Tree, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
    """(nv,) of mujoco's: a free joint's has the velocity first there, and in the world's frame."""
    v = np.array(qvel, float)
    for i in np.flatnonzero(declared.arrays.kind == FREE):
        at, q = int(declared.arrays.v_at[i]), int(declared.arrays.q_at[i])
        v[at : at + 6] = np.r_[qvel[at + 3 : at + 6], _rotation(qpos[q + 3 : q + 7]).T @ qvel[at : at + 3]]
    return v


def _geoms(model: Any, bodies: _Bodies, collides: np.ndarray, urdf: bool) -> Iterable[Geom]:
    """With what is shown of a URDF's links that have no shape to touch, and all of an MJCF that lets nothing touch, as
    if it could."""
    touched = {int(i) for i in model.geom_bodyid[collides]}
    none = np.zeros((0, 3)), np.zeros((0, 3), np.int32)
    shown_by_itself = {int(model.geom_bodyid[k]) for k in range(model.ngeom) if not collides[k]}
    for k in range(model.ngeom):
        shape, i = _SHAPES.get(int(model.geom_type[k])), int(model.geom_bodyid[k])
        if shape is None or shape not in SHAPES:
            continue
        name, T = bodies.carrier(i)
        rgba = model.geom_rgba[k]
        if model.geom_matid[k] >= 0 and tuple(rgba) == _GREY:
            rgba = model.mat_rgba[model.geom_matid[k]]
        vertices, faces = none
        if shape == "mesh":
            mesh = int(model.geom_dataid[k])
            v, f = int(model.mesh_vertadr[mesh]), int(model.mesh_faceadr[mesh])
            vertices = np.array(model.mesh_vert[v : v + model.mesh_vertnum[mesh]], float)
            faces = np.array(model.mesh_face[f : f + model.mesh_facenum[mesh]])
        hidden = urdf and collides[k] and i in shown_by_itself
        alone = i not in touched if urdf else not touched
        yield Geom(
            body=name,
            shape=shape,
            T=T @ _pose(model.geom_pos[k], model.geom_quat[k]),
            size_m=np.array(model.geom_size[k]),
            rgba=tuple(float(x) for x in rgba),  # type: ignore[arg-type]
            drawn=not hidden and (urdf or int(model.geom_group[k]) < _HIDDEN_GROUP),
            collides=bool(collides[k]) or alone,
            vertices=vertices,
            faces=faces,
        )


def _equality(model: Any, e: int) -> str:
    kind = int(model.eq_type[e])
    return f"{_EQUALITIES[kind]} {quote(model.equality(e).name)}" if kind < len(_EQUALITIES) else "of flexes"


def _closes(model: Any, e: int, tendons: Tendons) -> bool:
    """Whether it closes a loop or couples joints or tendons, from the start on."""
    one = model.eq_type[e] in (_CONNECT, _WELD, _JOINTS) or tendons.couples(e)
    return bool(one and model.eq_active0[e])


def _loops(model: Any, bodies: _Bodies, tendons: Tendons) -> Iterable[Loop | Gear]:
    """Points that bodies share (`connect`), bodies that stand still against each other (`weld`) and joints that follow
    others (`joint`, of a URDF `mimic`), or lengths of tendons that do. Raises InputError where neither body moves."""
    for e in range(model.neq):
        if not _closes(model, e, tendons):
            continue
        if model.eq_type[e] in (_JOINTS, _TENDONS):
            yield _gear(model, bodies, tendons, e)
            continue
        data, welds = model.eq_data[e], model.eq_type[e] == _WELD
        ends = []
        for k, at in enumerate((int(model.eq_obj1id[e]), int(model.eq_obj2id[e]))):
            if model.eq_objtype[e] == _SITE:
                point, R = model.site_pos[at], _rotation(model.site_quat[at])
                at = int(model.site_bodyid[at])
            else:
                # A weld's points stand the other way round; its pose is that of the second body in the first.
                point = data[3 * (1 - k if welds else k) :][:3]
                R = _rotation(data[6:10]) if welds and k == 0 else np.eye(3)
            name, T = bodies.carrier(at)
            ends.append((name, triple(T[:3, :3] @ point + T[:3, 3]), T[:3, :3] @ R))
        ends.sort(key=lambda end: end[0] == WORLD)
        (body, point, R), (other, other_point, other_R) = ends
        if body == other:
            raise InputError(f"the equality {_equality(model, e)} closes {quote(body)} with itself")
        yield Loop(body, point, other, other_point, Joint("fixed" if welds else "ball"), other_R @ R.T)


def _gear(model: Any, bodies: _Bodies, tendons: Tendons, e: int) -> Gear:
    """Of a polynomial between what two joints, or lengths, are away from where the file places them."""
    one, other = int(model.eq_obj1id[e]), int(model.eq_obj2id[e])
    if model.eq_type[e] == _JOINTS:
        names, starts = bodies.joints, model.qpos0[model.jnt_qposadr]
    else:
        names, starts = tendons.names, model.tendon_length0
    begin = [float(starts[j]) if j >= 0 else 0.0 for j in (one, other)]
    shifted = np.polynomial.Polynomial(model.eq_data[e, :5])(np.polynomial.Polynomial([-begin[1], 1.0]))
    coefficients = [begin[0] + shifted.coef[0], *shifted.coef[1:]]
    return Gear(names[one], names[other] if other >= 0 else "", tuple(map(float, coefficients)))


def _left_out(model: Any, bodies: _Bodies, tendons: Tendons) -> Iterable[str]:
    """What neither the tree nor its loops have, by name."""

    def left_out(what: str, names: list[str]) -> Iterable[str]:
        if names:
            yield f"{what} left out: {one_of(names)}"

    for e in range(model.neq):
        if not _closes(model, e, tendons):
            yield f"an equality is left out: {_equality(model, e)}"
    free = [j for j in range(model.njnt) if model.jnt_type[j] == 0]
    rubbing = {int(model.dof_jntid[d]) for d in np.flatnonzero(model.dof_frictionloss)}
    yield from left_out("dry friction is", [bodies.joints[j] for j in sorted(rubbing)])
    yield from left_out(
        "damping or stiffness of free joints is",
        [
            bodies.joints[j]
            for j in free
            if model.dof_damping[model.jnt_dofadr[j] :][:6].any() or np.any(model.jnt_stiffness[j])
        ],
    )
    yield from left_out(
        "limits of ball joints are",
        [bodies.joints[j] for j in range(model.njnt) if model.jnt_type[j] == 1 and model.jnt_limited[j]],
    )
    curved = {int(model.dof_jntid[d]) for d in np.flatnonzero(np.any(model.dof_dampingpoly, axis=1))}
    bent = np.any(model.jnt_stiffnesspoly, axis=1) & (model.jnt_type < _SLIDE)
    curved |= set(np.flatnonzero(bent).tolist())
    yield from left_out(
        "nonlinear damping, and stiffness of balls, is", [bodies.joints[j] for j in sorted(curved)]
    )
    yield from left_out("dry friction and nonlinear damping of tendons are", tendons.left_out())
    yield from left_out(
        "gravity compensation is", [bodies.names[i] for i in np.flatnonzero(model.body_gravcomp)]
    )
    missing = [a for a in range(model.nu) if not driven(model, a, bodies.joints, tendons.driven_names)]
    for what, these in (
        ("servos with a force range are", [a for a in missing if is_cut_off(model, a)]),
        (
            "actuators that are no motors or servos of joints and tendons are",
            [a for a in missing if not is_cut_off(model, a)],
        ),
    ):
        yield from left_out(what, [_name(model.actuator(a).name, f"actuator {a}") for a in these])
    if model.opt.density or model.opt.viscosity:
        yield "the medium's drag is left out"


def start_of(declared: Tree, qpos: np.ndarray, qvel: np.ndarray) -> TreeState:
    """A state of the tree from mujoco's coordinates and velocities of the same model."""
    q, v = _coordinates(declared, qpos), _velocities(declared, qpos, qvel)
    return declared.state(*(with_inertias(declared, q, v) if len(q) < declared.nq else (q, v)))
