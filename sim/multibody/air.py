"""What the air does to a tree's bodies: quadratic drag, against the wind."""

from sim.multibody.articulated import solve
from sim.multibody.spatial import add, apart, copy, cross, dot, jit, put_pair, rotate, row3, row9, sub, times
from sim.multibody.stepping import node_velocities
from sim.multibody.twists import momenta
from sim.multibody.wrenches import gather
from sim.vehicles.drag import drag_over_velocity

_over_velocity = jit(drag_over_velocity)


@apart
def air_forces(tree, ws, v, out):
    """out = generalised forces (nv,) of the air at the node placed in ws.node, under joint velocities v (nv,)."""
    momenta(tree, ws.node, v, ws.arc, ws.wrench, out)
    wind = (tree.wind_w[0], tree.wind_w[1], tree.wind_w[2])
    for k in range(tree.air_carriers.shape[0]):
        i = tree.air_carriers[k]
        at = rotate(row9(ws.node, i, 0), row3(tree.air, k, 0))
        x = sub(add(row3(ws.arc, i, 3), cross(row3(ws.arc, i, 0), at)), wind)
        force = times(_over_velocity(tree.air[k, 3], dot(x, x)), x)
        put_pair(
            ws.wrench, i, add(row3(ws.wrench, i, 0), cross(at, force)), add(row3(ws.wrench, i, 3), force)
        )
    gather(tree, ws.node, ws.wrench, out)


@apart
def air_impulse(tree, ws, q, b, h, seconds, limits):
    """Add to the impulse b of a node what the air gives in so many seconds, at the velocities in their middle.

    h: of the step, whose half of the node's kick is in b.
    """
    copy(ws.increments, ws.saved_b)
    node_velocities(tree, ws, q, b, h, limits, ws.change)
    air_forces(tree, ws, ws.change, ws.kick)
    solve(tree, ws.node, ws.damping, h, ws.factor, ws.kick, ws.wrench, ws.spare, ws.twist, ws.trial)
    for a in range(b.shape[0]):
        ws.change[a] += 0.5 * seconds * ws.trial[a]
    air_forces(tree, ws, ws.change, ws.kick)
    for a in range(b.shape[0]):
        b[a] += seconds * ws.kick[a]
    copy(ws.saved_b, ws.increments)
