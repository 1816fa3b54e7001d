"""A kernel's functions in this process: machine code of its module, run by the drivers of its environment."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from sim.compiler import robust, rollouts
from sim.compiler.objects import loaded
from sim.compiler.rollouts import Driver
from sim.platform.cache import found, keep


class MachineCode:
    """What kernels call: `rollout`, `trajectory` and `many` as `rollouts.Driver` has them, without the code."""

    def __init__(self, engine: llvm.ExecutionEngine, driver: Driver, names: Sequence[str]) -> None:
        """names: of the module's functions that the driver calls."""
        self._engine = engine  # owns the code
        self.code = tuple(_address(engine, name) for name in names)
        self.rollout: Any = partial(driver.rollout, self.code)
        self.trajectory: Any = partial(driver.trajectory, self.code)
        self.many: Any = partial(driver.many, self.code)
        self._addresses: dict[str, int] = {}

    @staticmethod
    def of(name: str, text: str, driver: Driver, names: Sequence[str]) -> "MachineCode":
        """Of LLVM's text, from the cache or compiled into it; the text is kept under that name, for people."""
        if found("kernels", f"{name}.ll") is None:
            keep("kernels", f"{name}.ll", lambda path: path.write_text(text, encoding="utf-8"))
        if f"@{robust.SETTLE}(" in text:
            robust.announced()
        return MachineCode(loaded(text, optimised=True), driver, names)

    def address(self, name: str) -> int:
        """Of a function of the module; 0: it has none of that name."""
        if name not in self._addresses:
            self._addresses[name] = self._engine.get_function_address(name)
        return self._addresses[name]

    def start(
        self,
        node: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        y: np.ndarray,
        *,
        how: str = "start",
    ) -> bool:
        """Fill in the private state of a node by one of the module's starts; whether it has that one."""
        code = self.address(how)
        if code:
            rollouts.start(code, node, u, w, p, h, y)
        return code != 0


def _address(engine: llvm.ExecutionEngine, name: str) -> int:
    """Of a function, or of constants."""
    address: int = engine.get_function_address(name) or engine.get_global_value_address(name)
    return address
