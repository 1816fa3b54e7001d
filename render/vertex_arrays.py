"""Vertex arrays whose programs may have lost some of their attributes."""

from collections.abc import Sequence

import moderngl

_BYTES = {"f": 4, "f1": 1, "f2": 2, "f4": 4, "i": 4, "i1": 1, "i2": 2, "u": 4, "u1": 1, "u2": 2}


def _padded(token: str) -> str:
    """`3f` as the padding of the same length, `12x`."""
    if token.endswith("x"):
        return token
    count = token[0] if token[0].isdigit() else "1"
    return f"{int(count) * _BYTES[token.removeprefix(count)]}x"


def vertex_array(
    ctx: moderngl.Context,
    program: moderngl.Program,
    content: Sequence[tuple[object, ...]],
    index: moderngl.Buffer | None = None,
) -> moderngl.VertexArray:
    """As `ctx.vertex_array`, but attributes that the linker removed become padding instead of an error."""
    kept = []
    for buffer, layout, *names in content:
        body, slash, rate = str(layout).partition("/")
        waiting = list(names)
        tokens, attributes = [], []
        for token in body.split():
            name = None if token.endswith("x") else waiting.pop(0)
            if name is not None and name in program:
                tokens.append(token)
                attributes.append(name)
            else:
                tokens.append(_padded(token))
        if attributes:
            kept.append((buffer, " ".join(tokens) + slash + rate, *attributes))
    return ctx.vertex_array(program, kept, index)
