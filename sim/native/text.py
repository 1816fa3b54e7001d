"""LLVM's text: the instructions of a function, whoever prints them, and registers of numbers and of vectors."""

import struct
from collections.abc import Sequence
from functools import cache

import numpy as np


class Text:
    """Instructions of one function, in order; what is allocated on the stack stands before them.

    Conditions, numbers and addresses are registers or constants as LLVM writes them; blocks and variables are names.
    """

    def __init__(self, prefix: str = "x") -> None:
        """prefix: of the registers' names."""
        self.lines: list[str] = []
        self.allocated: list[str] = []
        self.declared: set[str] = set()
        """Functions outside."""
        self.ended = False
        """Whether the block that is written has come to its end."""
        self.block = "entry"
        """Name of the block that is written."""
        self._prefix, self._count = prefix, 0

    def fresh(self, word: str = "") -> str:
        """A new name, of a register or a block."""
        self._count += 1
        return f"{word or self._prefix}{self._count}"

    def put(self, *texts: str) -> None:
        """Instructions without results. What would come after a block's end never runs, and is left out."""
        if not self.ended:
            self.lines += [f"  {text}" for text in texts]

    def new(self, text: str) -> str:
        """Register of an instruction's result."""
        self._count += 1  # as `fresh` and `put` do: there are hundreds of thousands of them
        register = f"%{self._prefix}{self._count}"
        if not self.ended:
            self.lines.append(f"  {register} = {text}")
        return register

    def label(self, block: str) -> None:
        """Begin a block."""
        self.lines.append(f"{block}:")
        self.block, self.ended = block, False

    def jump(self, block: str) -> None:
        self.put(f"br label %{block}")
        self.ended = True

    def branch(self, condition: str, yes: str, no: str) -> None:
        self.put(f"br i1 {condition}, label %{yes}, label %{no}")
        self.ended = True

    def room(self, kind: str, word: str = "") -> str:
        """Address of room on the stack for one such thing."""
        register = f"%{self.fresh(word)}"
        self.allocated.append(f"  {register} = alloca {kind}")
        return register

    def outside(self, name: str, kind: str, *given: str, flags: str = "") -> str:
        """What a function outside gives for numbers of a kind: one of the same kind."""
        self.declared.add(f"declare {kind} @{name}({', '.join([kind] * len(given))})")
        return self.new(f"call{flags} {kind} @{name}({', '.join(f'{kind} {x}' for x in given)})")

    def intrinsic(self, name: str, kind: str, *given: str, flags: str = "") -> str:
        """The same of a function of LLVM's."""
        return self.outside(f"llvm.{name}.{_ending(kind)}", kind, *given, flags=flags)

    def spread(self, number: str, width: int) -> str:
        """A vector whose parts are all that number, a register or a constant; of one part, the number."""
        if width == 1:
            return number
        vector, _ = register_types(width)
        first = self.new(f"insertelement {vector} poison, double {number}, i32 0")
        zeros = f"<{width} x i32> zeroinitializer"
        return self.new(f"shufflevector {vector} {first}, {vector} poison, {zeros}")


@cache
def _ending(kind: str) -> str:
    """Of an intrinsic function's name."""
    return {"double": "f64", "float": "f32"}.get(kind) or f"v{kind[1:].split()[0]}f64"


def register_types(width: int) -> tuple[str, str]:
    """Of registers of so many numbers, and of as many truth values; one number stands alone."""
    return ("double", "i1") if width == 1 else (f"<{width} x double>", f"<{width} x i1>")


def splat(x: float, width: int = 1) -> str:
    """A vector of equal numbers; of one, the number, to the bit."""
    bits = f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"
    return bits if width == 1 else "<" + ", ".join([f"double {bits}"] * width) + ">"


def constants(name: str, kind: str, numbers: Sequence[float] | np.ndarray) -> str:
    """A global array of them; kind: "double" or "i64"."""
    entries = ", ".join(f"{kind} {splat(float(x)) if kind == 'double' else x}" for x in numbers)
    return f"{name} = internal constant [{len(numbers)} x {kind}] [{entries}]"
