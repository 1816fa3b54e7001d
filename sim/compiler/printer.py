"""Prints SX expressions as straight-line Python: one assignment an instruction, scalars only."""

import math
from collections.abc import Callable, Sequence

import casadi as ca

_BINARY = {
    ca.OP_ADD: "{} + {}",
    ca.OP_SUB: "{} - {}",
    ca.OP_MUL: "{} * {}",
    ca.OP_DIV: "{} / {}",
    ca.OP_POW: "{} ** {}",
    ca.OP_CONSTPOW: "{} ** {}",
    ca.OP_LT: "1.0 * ({} < {})",
    ca.OP_LE: "1.0 * ({} <= {})",
    ca.OP_EQ: "1.0 * ({} == {})",
    ca.OP_NE: "1.0 * ({} != {})",
    ca.OP_AND: "1.0 * (({} != 0.0) & ({} != 0.0))",
    ca.OP_OR: "1.0 * (({} != 0.0) | ({} != 0.0))",
    ca.OP_FMIN: "{1} if {1} < {0} else {0}",
    ca.OP_FMAX: "{1} if {1} > {0} else {0}",
    ca.OP_ATAN2: "math.atan2({}, {})",
    ca.OP_COPYSIGN: "math.copysign({}, {})",
    ca.OP_IF_ELSE_ZERO: "where({}, {})",
}
_UNARY = {
    ca.OP_ASSIGN: "{}",
    ca.OP_NEG: "-{}",
    ca.OP_SQ: "{0} * {0}",
    ca.OP_TWICE: "2.0 * {}",
    ca.OP_INV: "1.0 / {}",
    ca.OP_NOT: "1.0 * ({} == 0.0)",
    ca.OP_FABS: "abs({})",
    ca.OP_SIGN: "where(abs({0}), math.copysign(1.0, {0}))",
    ca.OP_SQRT: "math.sqrt({})",
    ca.OP_SIN: "math.sin({})",
    ca.OP_COS: "math.cos({})",
    ca.OP_TAN: "math.tan({})",
    ca.OP_ASIN: "math.asin({})",
    ca.OP_ACOS: "math.acos({})",
    ca.OP_ATAN: "math.atan({})",
    ca.OP_SINH: "math.sinh({})",
    ca.OP_COSH: "math.cosh({})",
    ca.OP_TANH: "math.tanh({})",
    ca.OP_EXP: "math.exp({})",
    ca.OP_LOG: "math.log({})",
    ca.OP_FLOOR: "math.floor({})",
    ca.OP_CEIL: "math.ceil({})",
}

_BRANCHES = (ca.OP_FMIN, ca.OP_FMAX)
_TOLD_TWICE = (ca.OP_SQ, ca.OP_SIGN, *_BRANCHES)
"""Their forms name an operand more than once."""
_CALLS = {
    op for op, form in (*_BINARY.items(), *_UNARY.items()) if form.startswith(("math.", "where(", "abs("))
}
_LONGEST = 100
"""Characters of what is written where it is used, in place of a name: numba's time goes by the number of names."""


def straight_line(
    inputs: Sequence[tuple[ca.SX, Callable[[int], str]]],
    outputs: Sequence[tuple[ca.SX, Callable[[int], str]]],
    prefix: str,
) -> list[str]:
    """Assignments that compute `outputs` from `inputs`.

    Each input is a column of symbols with the Python name of its i-th entry, each output a dense
    column with the target of its i-th entry. What is used more than once gets a fresh local `prefix<k>`.
    Raises TypeError for an operation that has no Python form here.
    """
    f = ca.Function("f", [x for x, _ in inputs], [ca.densify(x) for x, _ in outputs], {"cse": True})
    uses = _uses(f)
    work: dict[int, str] = {}
    reciprocals: dict[str, str] = {}
    lines: list[str] = []
    final: list[str] = []
    for k in range(f.n_instructions()):
        op, into, out = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        if op == ca.OP_OUTPUT:
            # Targets may be inputs of later instructions: assign them all at the end.
            final.append(f"{outputs[out[0]][1](out[1])} = {work[into[0]]}")
            continue
        if op == ca.OP_CONST:
            work[out[0]] = _constant(float(f.instruction_constant(k)))
            continue
        if op == ca.OP_INPUT:
            text = inputs[into[0]][1](into[1])
            stays = text.isidentifier()
        elif op == ca.OP_DIV and not work[into[1]].replace(".", "").isdigit():
            # A reciprocal is shared by all that divide by the same number, and leaves the loop where that is fixed.
            divisor = work[into[1]]
            if divisor not in reciprocals:
                reciprocals[divisor] = f"{prefix}r{k}"
                lines.append(f"{reciprocals[divisor]} = 1.0 / {divisor}")
            text, stays = f"{work[into[0]]} * {reciprocals[divisor]}", False
        else:
            text, stays = _operation(op, [work[i] for i in into]), False
        if stays:
            work[out[0]] = text
        elif uses[k] == 1 and len(text) <= _LONGEST:
            work[out[0]] = text if op == ca.OP_INPUT or op in _CALLS else f"({text})"
        else:
            lines.append(f"{prefix}{k} = {text}")
            work[out[0]] = f"{prefix}{k}"
    return lines + final


def _uses(f: ca.Function) -> list[int]:
    """How often the text of each instruction's result would be written; twice at least where it needs a name."""
    count, made = [0] * f.n_instructions(), dict[int, int]()
    for k in range(f.n_instructions()):
        op, into, out = f.instruction_id(k), f.instruction_input(k), f.instruction_output(k)
        operands = [] if op == ca.OP_INPUT else into if op in _BINARY else into[:1]
        for place, i in enumerate(operands):
            named = op in _TOLD_TWICE or op == ca.OP_OUTPUT or (op == ca.OP_DIV and place == 1)
            count[made[i]] += 2 if named else 1
        if op != ca.OP_OUTPUT:
            made[out[0]] = k
        if op in _BRANCHES:
            count[k] = 2
    return count


def _constant(value: float) -> str:
    if math.isfinite(value):
        return repr(value)
    return "math.nan" if math.isnan(value) else f"math.copysign(math.inf, {math.copysign(1.0, value)})"


def _operation(op: int, operands: list[str]) -> str:
    guarded = [f"({o})" if o.startswith("-") else o for o in operands]
    if op in _BINARY:
        return _BINARY[op].format(*guarded)
    if op in _UNARY:
        return _UNARY[op].format(*guarded)
    raise TypeError(f"operation {op} of a symbolic expression has no compiled form")
