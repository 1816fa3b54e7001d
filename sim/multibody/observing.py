"""What follows from a tree's node: poses of the bodies, energies, spatial momentum. Not in the step; plain NumPy."""

import numpy as np

from sim.multibody.arrays import NODE
from sim.multibody.kinematics import place, place_frames
from sim.multibody.telling import spring_energy
from sim.multibody.tree import Tree
from sim.multibody.twists import momenta


def frames(tree: Tree, q: np.ndarray) -> np.ndarray:
    """(n, 4, 4) of the bodies of the arrays, in the world."""
    a = tree.arrays
    node = np.zeros((tree.n, 12))
    place_frames(a, np.asarray(q, float), node)
    poses = np.tile(np.eye(4), (tree.n, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = node[:, :9].reshape(-1, 3, 3), node[:, 9:]
    for i, j in enumerate(a.parent):
        if j >= 0:
            poses[i, :3, 3] += poses[j, :3, 3]
    return poses


def body_frames(tree: Tree, q: np.ndarray) -> dict[str, np.ndarray]:
    """Declared body -> (4, 4) pose in the world."""
    T_wb = frames(tree, q)
    poses = T_wb[np.maximum(tree.carriers, 0)] @ tree.offsets
    return dict(zip(tree.names, poses, strict=True))


def body_motions(tree: Tree, q: np.ndarray, v: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Declared body -> (4, 4) pose in the world, (3,) velocity of its origin in the world [m/s]."""
    T_wb, twists = frames(tree, q), _twists(tree, q, v)
    found = {}
    for name, i, T in zip(tree.names, np.maximum(tree.carriers, 0), tree.offsets, strict=True):
        found[name] = T_wb[i] @ T, twists[i, 3:] + np.cross(twists[i, :3], T_wb[i, :3, :3] @ T[:3, 3])
    return found


def kinetic_energy_J(p: np.ndarray, v: np.ndarray) -> float:
    return 0.5 * float(p @ v)


def potential_energy_J(tree: Tree, q: np.ndarray, limit_stiffness: np.ndarray) -> float:
    """Of gravity, springs and limits that are overrun."""
    a, T_wb = tree.arrays, frames(tree, q)
    moments_w = np.einsum("nij,nj->ni", T_wb[:, :3, :3], a.moment) + a.mass[:, None] * T_wb[:, :3, 3]
    energy = -float(moments_w.sum(0) @ a.gravity_w)
    return energy + float(spring_energy(a, q, limit_stiffness))


def spatial_momentum(tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(6,) angular about the world's origin, with that of rotors, and linear."""
    total = np.zeros(6)
    inertias, T_wb = inertia_matrices(tree.arrays.inertia), frames(tree, q)
    for i, rotor in zip(tree.arrays.rotor_carriers, tree.arrays.rotors, strict=True):
        total[:3] += T_wb[i, :3, :3] @ rotor
    for T, G, (w, x) in zip(T_wb, inertias, _twists(tree, q, v).reshape(-1, 2, 3), strict=True):
        mu = G @ np.r_[w @ T[:3, :3], x @ T[:3, :3]]
        linear = T[:3, :3] @ mu[3:]
        total[3:] += linear
        total[:3] += T[:3, :3] @ mu[:3] + np.cross(T[:3, 3], linear)
    return total


def _twists(tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, 6) of the bodies of the arrays, about their origins in the world's axes."""
    node, twists, wrench = np.zeros((tree.n, NODE)), np.zeros((tree.n, 9)), np.zeros((tree.n, 6))
    place(tree.arrays, np.asarray(q, float), node)
    momenta(tree.arrays, node, np.asarray(v, float), twists, wrench, np.zeros(tree.nv))
    return twists[:, :6]


def inertia_matrices(inertia: np.ndarray) -> np.ndarray:
    """(n, 6, 6) of the packed rows."""
    G = np.zeros((len(inertia), 6, 6))
    upper = np.triu_indices(3)
    for block, at in ((slice(0, 3), 0), (slice(3, 6), 15)):
        part = np.zeros((len(inertia), 3, 3))
        part[:, upper[0], upper[1]] = inertia[:, at : at + 6]
        G[:, block, block] = part + np.triu(part, 1).transpose(0, 2, 1)
    G[:, :3, 3:] = inertia[:, 6:15].reshape(-1, 3, 3)
    G[:, 3:, :3] = G[:, :3, 3:].transpose(0, 2, 1)
    return G
