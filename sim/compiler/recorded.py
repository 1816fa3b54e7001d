"""The text of the two functions that call a generated rollout: with every node recorded, and for many lanes."""

_A = "float64[::1]"

TRAJECTORY = f"""@compiled(
    "Tuple((int64, int64))({_A}, float64[:, ::1], {_A}, {_A}, float64, int64, float64[:, ::1],"
    " boolean, float32[:, ::1], {_A}, float64[:, ::1], {_A}, {_A})",
    error_model="numpy",
)
def trajectory(y, us, w, p, h, n, nodes, on_ground, heights, frame, points, contact, report):
    held = us.shape[0] == 1
    total = 0
    for k in range(n):
        u = us[0] if held else us[k]
        done, status, iterations = rollout(
            y, u, w, p, h, 1, nodes[k], on_ground, heights, frame, points, contact, report
        )
        total += iterations
        if status != 0:
            return k, total
    last = y.copy()
    u = us[0] if held else us[n - 1]
    done, status, iterations = rollout(
        last, u, w, p, h, 1, nodes[n], on_ground, heights, frame, points, contact, report
    )
    return n, total


# No signature: compiled by those who first run many lanes, not by everybody who wants a kernel.
@compiled(error_model="numpy")
def many(ys, w, us, ps, h, n, nodes, done, heights, frame, points, contact, report):
    for lane in range(ys.shape[0]):
        u = us[0] if us.shape[0] == 1 else us[lane]
        p = ps[0] if ps.shape[0] == 1 else ps[lane]
        steps, status, iterations = rollout(
            ys[lane], u, w, p, h, n, nodes[lane], False, heights, frame, points, contact, report
        )
        done[lane] = steps
        if status == 0:
            last = ys[lane].copy()
            rollout(last, u, w, p, h, 1, nodes[lane], False, heights, frame, points, contact, report)
"""
