"""What Python calls: a function of CPython's own kind, whose arguments machine code takes apart.

Of an array it reads address and lengths where numpy's header has them (PyArrayObject_fields), and refuses one of
another kind; numbers come and go by CPython's interface. The interpreter's lock is given up while the function runs.
"""

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from sim.native.text import Text
from sim.native.translator import returned
from sim.native.types import Array, Known, Number, Tuple, Type, holds_array

_API = (
    "PyTuple_Size",
    "PyTuple_GetItem",
    "PyLong_AsLongLong",
    "PyFloat_AsDouble",
    "PyObject_IsTrue",
    "PyErr_Occurred",
    "PyErr_SetString",
    "PyEval_SaveThread",
    "PyEval_RestoreThread",
    "PyLong_FromLongLong",
    "PyFloat_FromDouble",
    "PyBool_FromLong",
    "PyTuple_New",
    "PyTuple_SetItem",
    "Py_BuildValue",
    "PyObject_CallFunction",
)
_ARRAY, _ERROR, _EMPTY = len(_API), len(_API) + 1, len(_API) + 2
"""Behind them: numpy's type of arrays, the type of the error, and what makes arrays."""
_AS = {
    "i64": ("PyLong_AsLongLong", "i64"),
    "double": ("PyFloat_AsDouble", "double"),
    "float": ("PyFloat_AsDouble", "double"),
    "i1": ("PyObject_IsTrue", "i32"),
}
_FROM = {"i64": "PyLong_FromLongLong", "double": "PyFloat_FromDouble", "i1": "PyBool_FromLong"}


class _Entry(Text):
    """Instructions of an entry."""

    def __init__(self, number: int) -> None:
        super().__init__("e")
        self._number = number
        self.constants: list[str] = []
        self.refusals: list[str] = []
        self.told: list[str] = []
        self.most = 0
        """Axes of an array."""

    def field(self, base: str, offset: int, kind: str) -> str:
        """What stands so many bytes behind an address."""
        return self.new(f"load {kind}, ptr {self.new(f'getelementptr i8, ptr {base}, i64 {offset}')}")

    def api(self, name: str, returns: str, given: str) -> str:
        """What a function of CPython's returns."""
        code = self.field("@api", 8 * _API.index(name), "ptr")
        return self.new(f"call {returns} {code}({given})")

    def _constant(self, kind: str, text: str) -> str:
        """Name of one of C's strings."""
        told, name = f"{text}\0".encode(), f"@{self.fresh(kind)}.{self._number}"
        escaped = "".join(f"\\{byte:02X}" for byte in told)
        self.constants.append(f'{name} = private constant [{len(told)} x i8] c"{escaped}"')
        return name

    def wanted(self, condition: str, message: str) -> None:
        """Go on where it holds; else the error is raised."""
        fine, not_fine = self.fresh("fine"), self.fresh("not")
        self.branch(condition, fine, not_fine)
        self.label(fine)
        self.refusals.append(f"{not_fine}:\n  br label %refused")
        self.told.append(f"[ {self._constant('told', message)}, %{not_fine} ]")

    def count(self, whole: str, wanted: int, message: str) -> None:
        """Go on where a tuple of Python's has so many items; else the error is raised."""
        found = self.api("PyTuple_Size", "i64", f"ptr {whole}")
        self.wanted(self.new(f"icmp eq i64 {found}, {wanted}"), message)

    def taken(self, given: str, k: int, kind: Type, name: str) -> list[str]:
        """What is handed on of item k of a tuple of Python's."""
        if isinstance(kind, Known):
            return []
        if isinstance(kind, Array):
            return self._array(given, k, kind, name)
        item = self.api("PyTuple_GetItem", "ptr", f"ptr {given}, i64 {k}")
        if isinstance(kind, Tuple):
            self.count(item, len(kind.items), f"{name} is no tuple of {len(kind.items)}")
            handed = []
            for j, one in enumerate(kind.items):
                handed += self.taken(item, j, one, f"{name}[{j}]")
            return handed
        assert isinstance(kind, Number)
        function, llvm_kind = _AS[kind.llvm]
        x = self.api(function, llvm_kind, f"ptr {item}")
        if kind.llvm == "float":
            return [f"float {self.new(f'fptrunc double {x} to float')}"]
        return [f"i1 {self.new(f'icmp ne i32 {x}, 0')}" if kind.llvm == "i1" else f"{llvm_kind} {x}"]

    def _array(self, given: str, k: int, kind: Array, name: str) -> list[str]:
        message = f"{name} is no {kind.ndim}-dimensional array of {kind.element.dtype}"
        dtype, self.most = np.dtype(kind.element.dtype), max(self.most, kind.ndim)
        bits = -1 if kind.contiguous else dtype.itemsize.bit_length() - 1
        asked = f"ptr {given}, i64 {k}, i32 {kind.ndim}, i32 {dtype.num}, i64 {bits}, ptr %parts"
        message = f"{message} in one piece" if kind.contiguous else message
        self.wanted(self.new(f"call i1 @array.taken({asked})"), message)
        count = 1 + (1 if kind.contiguous else 2) * kind.ndim
        return [
            f"{'i64' if at else 'ptr'} {self.field('%parts', 8 * at, 'i64' if at else 'ptr')}"
            for at in range(count)
        ]

    def given(self, kind: Type, parts: list[str]) -> str:
        """Python's object of a result; its registers are taken from `parts`."""
        if isinstance(kind, Tuple):
            whole = self.api("PyTuple_New", "ptr", f"i64 {len(kind.items)}")
            for k, one in enumerate(kind.items):
                # The tuple owns the item from then on.
                self.api("PyTuple_SetItem", "i32", f"ptr {whole}, i64 {k}, ptr {self.given(one, parts)}")
            return whole
        if isinstance(kind, Array):
            return self._made(kind, parts)
        if not isinstance(kind, Number):
            code = self.field("@api", 8 * _API.index("Py_BuildValue"), "ptr")
            return self.new(f"call ptr (ptr, ...) {code}(ptr @nothing)")
        x = parts.pop(0)
        if kind.llvm == "i1":
            return self.api("PyBool_FromLong", "ptr", f"i64 {self.new(f'zext i1 {x} to i64')}")
        if kind.llvm == "float":
            x = self.new(f"fpext float {x} to double")
        return self.api(
            _FROM["double" if kind.is_real else "i64"], "ptr", f"{'double' if kind.is_real else 'i64'} {x}"
        )

    def _made(self, kind: Array, parts: list[str]) -> str:
        """An array of numpy's with these entries."""
        place, lengths = parts[0], parts[1 : 1 + kind.ndim]
        del parts[: 1 + kind.ndim]
        format_name = self._constant("format", f"({'n' * kind.ndim})s")
        dtype_name = self._constant("dtype", kind.element.dtype)
        code = self.field("@api", 8 * _API.index("PyObject_CallFunction"), "ptr")
        shape = ", ".join(f"i64 {n}" for n in lengths)
        given = f"ptr {self.field('@api', 8 * _EMPTY, 'ptr')}, ptr {format_name}, {shape}, ptr {dtype_name}"
        array = self.new(f"call ptr (ptr, ptr, ...) {code}({given})")
        self.wanted(self.new(f"icmp ne ptr {array}, null"), "there is no room for a result")
        size = str(np.dtype(kind.element.dtype).itemsize)
        for length in lengths:
            size = self.new(f"mul i64 {size}, {length}")
        copied = f"ptr {self.field(array, 16, 'ptr')}, ptr {place}, i64 {size}, i1 false"
        self.put(f"call void @llvm.memcpy.p0.p0.i64({copied})")
        return array


Entry = tuple[str, Sequence[str], Sequence[Type], Type]
"""Name of a function in LLVM's text, names and types of its arguments, and what it returns."""


def entries_text(entries: Sequence[Entry]) -> str:
    """LLVM's text of functions `entry.0`, `entry.1` ... (self, tuple of arguments), each of which calls its own."""
    head = [
        f"@api = global [{len(_API) + 3} x ptr] zeroinitializer",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "@nothing = private constant [1 x i8] zeroinitializer",
        _array_taken(),
    ]
    return "\n".join([*head, *(_entry_text(number, *entry) for number, entry in enumerate(entries))])


def _entry_text(number: int, inner: str, names: Sequence[str], takes: Sequence[Type], returns: Type) -> str:
    text, handed = _Entry(number), ["ptr %rooms"] if holds_array(returns) else []
    if handed:
        text.put("%rooms = alloca ptr", "store ptr null, ptr %rooms")
    text.count("%given", len(names), f"takes {len(names)} arguments")
    for k, (name, kind) in enumerate(zip(names, takes, strict=True)):
        handed += text.taken("%given", k, kind, name)
    error = text.api("PyErr_Occurred", "ptr", "")
    fine = text.new(f"icmp eq ptr {error}, null")
    text.branch(fine, "run", "raised")
    text.label("run")
    lock = text.api("PyEval_SaveThread", "ptr", "")
    call = f'call {returned(returns)} @"{inner}"({", ".join(handed)})'
    parts: list[str] = []
    if returns.parts:
        whole = text.new(call)
        count = len(returns.parts)
        parts = (
            [whole]
            if count == 1
            else [text.new(f"extractvalue {returned(returns)} {whole}, {k}") for k in range(count)]
        )
    else:
        text.put(call)
    restore = text.field("@api", 8 * _API.index("PyEval_RestoreThread"), "ptr")
    text.put(f"call void {restore}(ptr {lock})")
    result = text.given(returns, parts)
    if holds_array(returns):
        text.put("call void @rooms.freed(ptr %rooms)")
    if text.most:
        text.allocated.append(f"  %parts = alloca [{1 + 2 * text.most} x i64]")
    lines = [
        f"define ptr @entry.{number}(ptr %self, ptr %given) {{",
        *text.allocated,
        *text.lines,
        f"  ret ptr {result}",
        *text.refusals,
    ]
    if text.told:
        refuse = (
            f"%refuse = load ptr, ptr getelementptr (i8, ptr @api, i64 {8 * _API.index('PyErr_SetString')})"
        )
        lines += [
            "refused:",
            f"  %told = phi ptr {', '.join(text.told)}",
            f"  {refuse}",
            f"  %kind = load ptr, ptr getelementptr (i8, ptr @api, i64 {8 * _ERROR})",
            "  call void %refuse(ptr %kind, ptr %told)",
            "  br label %raised",
        ]
    lines += ["raised:", "  ret ptr null", "}"]
    return "\n".join([*text.constants, *lines])


def _array_taken() -> str:
    """LLVM's text of what tells whether an item of a tuple is such an array, and takes it apart.

    Address, lengths, and, where the size of an element is told, as a power of two, distances between neighbours in
    elements. Called, not copied: entries have up to a hundred arrays.
    """
    get, of_type = 8 * _API.index("PyTuple_GetItem"), 8 * _ARRAY
    takes = "ptr %given, i64 %k, i32 %ndim, i32 %dtype, i64 %bits, ptr %parts"
    return f"""define internal i1 @array.taken({takes}) noinline {{
  %get = load ptr, ptr getelementptr (i8, ptr @api, i64 {get})
  %item = call ptr %get(ptr %given, i64 %k)
  %wanted = load ptr, ptr getelementptr (i8, ptr @api, i64 {of_type})
  %type.at = getelementptr i8, ptr %item, i64 8
  %type = load ptr, ptr %type.at
  %array = icmp eq ptr %type, %wanted
  br i1 %array, label %typed, label %other
typed:
  %axes.at = getelementptr i8, ptr %item, i64 24
  %axes = load i32, ptr %axes.at
  %likewise = icmp eq i32 %axes, %ndim
  %dtype.at = getelementptr i8, ptr %item, i64 56
  %descriptor = load ptr, ptr %dtype.at
  %number.at = getelementptr i8, ptr %descriptor, i64 28
  %number = load i32, ptr %number.at
  %of = icmp eq i32 %number, %dtype
  %flags.at = getelementptr i8, ptr %item, i64 64
  %flags = load i32, ptr %flags.at
  %flag = and i32 %flags, 1
  %whole = icmp ne i32 %flag, 0
  %spread = icmp sge i64 %bits, 0
  %lies = or i1 %whole, %spread
  %both = and i1 %likewise, %of
  %fine = and i1 %both, %lies
  br i1 %fine, label %taken, label %other
taken:
  %data.at = getelementptr i8, ptr %item, i64 16
  %data = load ptr, ptr %data.at
  store ptr %data, ptr %parts
  %lengths.at = getelementptr i8, ptr %item, i64 32
  %lengths = load ptr, ptr %lengths.at
  %strides.at = getelementptr i8, ptr %item, i64 40
  %strides = load ptr, ptr %strides.at
  %n = zext i32 %ndim to i64
  %distances = getelementptr i64, ptr %parts, i64 %n
  br label %axis
axis:
  %a = phi i64 [ 0, %taken ], [ %a.next, %axis.end ]
  %more = icmp slt i64 %a, %n
  br i1 %more, label %one, label %end
one:
  %a.next = add i64 %a, 1
  %length.at = getelementptr i64, ptr %lengths, i64 %a
  %length = load i64, ptr %length.at
  %length.to = getelementptr i64, ptr %parts, i64 %a.next
  store i64 %length, ptr %length.to
  br i1 %spread, label %apart, label %axis.end
apart:
  %stride.at = getelementptr i64, ptr %strides, i64 %a
  %stride = load i64, ptr %stride.at
  %distance = ashr exact i64 %stride, %bits
  %distance.to = getelementptr i64, ptr %distances, i64 %a.next
  store i64 %distance, ptr %distance.to
  br label %axis.end
axis.end:
  br label %axis
end:
  ret i1 true
other:
  ret i1 false
}}"""


class _Definition(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("code", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_AS_TUPLE = 1
"""METH_VARARGS."""


@cache
def _addresses() -> tuple[int, ...]:
    python: Any = ctypes.pythonapi
    api = [ctypes.cast(getattr(python, name), ctypes.c_void_p).value or 0 for name in _API]
    error = ctypes.c_void_p.in_dll(python, "PyExc_TypeError").value or 0
    return (*api, id(np.ndarray), error, id(np.empty))


def python_function(
    engine: llvm.ExecutionEngine, name: str, number: int = 0
) -> tuple[Callable[..., Any], object]:
    """An entry of a module as a function of Python's, and what it needs as long as it may be called."""
    addresses = _addresses()
    place = (ctypes.c_void_p * len(addresses)).from_address(engine.get_global_value_address("api"))
    for k, address in enumerate(addresses):
        place[k] = address
    definition = _Definition(name.encode(), engine.get_function_address(f"entry.{number}"), _AS_TUPLE, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return make(ctypes.addressof(definition), None, None), (engine, definition)
