"""The continuous equations of a tree by articulated-body accelerations, and common methods on them to compare with.

M(q) v' = forces - c(q, v), c what the velocities alone ask for (Featherstone's recursions); linear time like the
variational step. Loops add G' lambda, their slopes times multipliers such that G v' is against what the velocities
alone make of the gaps: the constraints twice differentiated, so that who integrates has to keep the gaps closed.
"""

from sim.multibody.arrays import FREE, PRISMATIC, REVOLUTE
from sim.multibody.articulated import factorise, solve
from sim.multibody.gaps import second_rate
from sim.multibody.kinematics import NOWHERE, axis_of, carried, gather, momenta, momentum, move, place
from sim.multibody.loops import loop_slopes, make_up
from sim.multibody.spatial import (
    add,
    apart,
    clear,
    copy,
    cross,
    dot,
    entry,
    entry_apart,
    jit,
    put3,
    put_pair,
    rodrigues_turn,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    times,
)
from sim.multibody.springs import damp_springs, pull_driven
from sim.multibody.stepping import active_damping, load_bodies, node_force, node_velocities
from sim.symbolic import drag_over_velocity

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
def air_impulse(tree, ws, q, b, h, seconds):
    """Add to the impulse b of a node what the air gives in so many seconds, at the velocities in their middle.

    h: of the step, whose half of the node's kick is in b.
    """
    copy(ws.increments, ws.saved_b)
    node_velocities(tree, ws, q, b, h, ws.change)
    air_forces(tree, ws, ws.change, ws.kick)
    solve(tree, ws.node, ws.damping, h, ws.factor, ws.kick, ws.wrench, ws.spare, ws.twist, ws.trial)
    for a in range(b.shape[0]):
        ws.change[a] += 0.5 * seconds * ws.trial[a]
    air_forces(tree, ws, ws.change, ws.kick)
    for a in range(b.shape[0]):
        b[a] += seconds * ws.kick[a]
    copy(ws.saved_b, ws.increments)


EULER, RK4 = 0, 1
"""Semi-implicit Euler, and the classical Runge-Kutta method in the joints' own coordinates about the node."""


@jit
def velocity_forces(tree, node, v, twists, accelerations, wrench, out):
    """c(q, v) (nv,): forces that keep the joints from accelerating; no gravity, no springs."""
    parent = tree.parent
    last, last_rate = NOWHERE, NOWHERE
    for i in range(parent.shape[0]):
        j = parent[i]
        w, x = carried(j, node, i, twists, last)
        a, b = carried(j, node, i, accelerations, last_rate)
        k, kind = tree.v_at[i], tree.kind[i]
        if kind == PRISMATIC:
            z = times(v[k], axis_of(node, i))
            x = add(x, z)
            b = add(b, cross(w, z))
        else:
            R = row9(node, i, 0)
            z = times(v[k], axis_of(node, i)) if kind == REVOLUTE else rotate(R, row_of(v, k))
            w = add(w, z)
            if kind == FREE:
                y = rotate(R, row_of(v, k + 3))
                x = add(x, y)
                b = add(b, cross(w, y))
            a, b = add(a, cross(w, z)), add(b, cross(x, z))
        put_pair(twists, i, w, x)
        put_pair(accelerations, i, a, b)
        last, last_rate = (w, x), (a, b)
        n, l = momentum(tree, node, i, w, x)
        f, g = momentum(tree, node, i, a, b)
        put_pair(wrench, i, add(f, add(cross(w, n), cross(x, l))), add(g, cross(w, l)))
    for m in range(tree.rotor_carriers.shape[0]):
        i = tree.rotor_carriers[m]
        n = rotate(row9(node, i, 0), row3(tree.rotors, m, 0))
        put3(wrench, i, 0, add(row3(wrench, i, 0), cross(row3(twists, i, 0), n)))
    gather(tree, node, wrench, out)


@jit
def all_forces(tree, ws, q, v, u, w, out):
    """out = forces - c(q, v) (nv,) under torques u (nv + m,) and wrenches w (n or 0, 6) in the bodies' frames.

    ws.node is placed at q, ws.kick the node's forces there (lost), ws.damping that of the joints.
    """
    velocity_forces(tree, ws.node, v, ws.arc, ws.after, ws.wrench, ws.residual)
    clear(ws.impulse)
    if w.shape[0]:
        load_bodies(ws, w)
        gather(tree, ws.node, ws.wrench, ws.impulse)
    for a in range(out.shape[0]):
        out[a] = u[a] + ws.kick[a] + ws.impulse[a] - ws.residual[a] - ws.damping[a] * v[a]
    if tree.springs.shape[0]:
        damp_springs(tree, ws.node, q, ws.arc, ws.wrench)
        gather(tree, ws.node, ws.wrench, ws.kick)
        for a in range(out.shape[0]):
            out[a] += ws.kick[a]
        pull_driven(tree, ws, u, 1.0, out)
    if tree.air_carriers.shape[0]:
        air_forces(tree, ws, v, ws.kick)
        for a in range(out.shape[0]):
            out[a] += ws.kick[a]


@entry
def keep_accelerations(tree, ws, loops, closing, q, v, rate):
    """Accelerations rate (nv,) after the multipliers under which the gaps have no second rate, in place.

    ws.arc and ws.after are as `velocity_forces` leaves them at q and v.
    """
    loop_slopes(tree, ws, loops, closing, q, 0.0)
    for k in range(closing.gaps.shape[0]):
        closing.gaps[k] = second_rate(tree, ws, loops, closing.frames, k, q, v)
    make_up(closing, rate)


@entry_apart
def accelerate(tree, ws, loops, closing, q, v, u, w, out):
    """out = v' (nv,) under torques u (nv + m,) and wrenches w (n or 0, 6) in the bodies' frames, with loops that
    hold. ws.node is placed at q."""
    damping = ws.damping
    active_damping(tree, q, damping)
    place(tree, q, ws.node)
    node_force(tree, ws, q, ws.kick)
    all_forces(tree, ws, q, v, u, w, out)
    factorise(tree, ws.node, damping, 0.0, ws.articulated, ws.factor)
    solve(tree, ws.node, damping, 0.0, ws.factor, out, ws.wrench, ws.spare, ws.twist, out)
    if loops.kind.shape[0]:
        keep_accelerations(tree, ws, loops, closing, q, v, out)


@jit
def coordinate_rates(tree, d, v, out):
    """Rates of the increments d about a node, of joint velocities v: the inverse differential of the Cayley map."""
    kinds, v_at = tree.kind, tree.v_at
    for i in range(kinds.shape[0]):
        b = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            out[b] = v[b]
            continue
        t, w = times(0.5, row_of(d, b)), row_of(v, b)
        y = add(add(w, cross(t, w)), times(dot(t, w), t))
        out[b], out[b + 1], out[b + 2] = y
        if kind == FREE:
            x = row_of(v, b + 3)
            out[b + 3], out[b + 4], out[b + 5] = add(x, rodrigues_turn(t, x))


@entry
def euler_step(tree, ws, loops, closing, q, v, u, w, h, stages):
    """v += h v', then q moves by h v. The first of `stages` (6, nv) is overwritten."""
    slope, d = stages[0], ws.increments
    accelerate(tree, ws, loops, closing, q, v, u, w, slope)
    for a in range(v.shape[0]):
        v[a] += h * slope[a]
        d[a] = h * v[a]
    move(tree, q, d)


@entry
def rk4_step(tree, ws, loops, closing, q, v, u, w, h, stages):
    """Four stages. u (1 or 3, nv + m): torques that are held, or at the step's start, middle and end. `stages` (6, nv)
    is overwritten."""
    slope, rate, velocity, sum_v, sum_d, increment = (
        stages[0],
        stages[1],
        stages[2],
        stages[3],
        stages[4],
        stages[5],
    )
    n, d = v.shape[0], ws.increments
    for a in range(n):
        velocity[a] = v[a]
        increment[a] = 0.0
        sum_v[a] = 0.0
        sum_d[a] = 0.0
    for stage in range(4):
        copy(q, ws.q_after)
        move(tree, ws.q_after, increment)
        torques = u[(stage + 1) // 2 if u.shape[0] > 1 else 0]
        accelerate(tree, ws, loops, closing, ws.q_after, velocity, torques, w, slope)
        coordinate_rates(tree, increment, velocity, rate)
        weight = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
        ahead = 1.0 if stage == 2 else 0.5
        for a in range(n):
            sum_v[a] += weight * slope[a]
            sum_d[a] += weight * rate[a]
            velocity[a] = v[a] + ahead * h * slope[a]
            increment[a] = ahead * h * rate[a]
    for a in range(n):
        v[a] += h * sum_v[a]
        d[a] = h * sum_d[a]
    move(tree, q, d)
