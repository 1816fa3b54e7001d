"""The text of the two functions that call a generated rollout: with every node recorded, and for many lanes."""

_A = "float64[::1]"


def recorded(env: str) -> str:
    """`env`: type of what a rollout is handed of its environment."""
    return f"""@compiled(
    "Tuple((int64, int64))({_A}, float64[:, ::1], float64[:, ::1], {_A}, float64, int64, float64[:, ::1], {env})",
    error_model="numpy",
)
{_FUNCTIONS}"""


_FUNCTIONS = """def trajectory(y, us, ws, p, h, n, nodes, env):
    held, constant = us.shape[0] == 1, ws.shape[0] == 1
    total = 0
    for k in range(n):
        u = us[0] if held else us[k]
        w = ws[0] if constant else ws[k]
        done, status, iterations = rollout(y, u, w, p, h, 1, nodes[k], env)
        total += iterations
        if status != 0:
            return k, total
    last = y.copy()
    u = us[0] if held else us[n - 1]
    w = np.zeros(ws.shape[1])
    done, status, iterations = rollout(last, u, w, p, h, 1, nodes[n], env)
    return n, total


# No signature: compiled by those who first run many lanes, not by everybody who wants a kernel.
@compiled(error_model="numpy")
def many(ys, w, us, ps, h, n, nodes, done, env):
    for lane in range(ys.shape[0]):
        u = us[0] if us.shape[0] == 1 else us[lane]
        p = ps[0] if ps.shape[0] == 1 else ps[lane]
        steps, status, iterations = rollout(ys[lane], u, w, p, h, n, nodes[lane], env)
        done[lane] = steps
        if status == 0:
            last = ys[lane].copy()
            rollout(last, u, w, p, h, 1, nodes[lane], env)
"""
