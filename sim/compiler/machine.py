"""A kernel's functions in this process: machine code of its module, run by the drivers of its environment."""

from functools import partial
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from sim.compiler import robust, rollouts
from sim.compiler.inline import Inline
from sim.compiler.objects import loaded
from sim.platform.cache import found, keep


class MachineCode:
    """What kernels call: `rollout`, `trajectory` and `many` as `rollouts.Driver` has them, without the code."""

    def __init__(self, engine: llvm.ExecutionEngine, inline: Inline | None) -> None:
        self._engine = engine  # owns the code
        names = ("rollout", "sense", "pose") if inline else ("rollout",) * 3
        code = tuple(engine.get_function_address(name) for name in names)
        driver = rollouts.driver(inline)
        self.rollout: Any = partial(driver.rollout, code)
        self.trajectory: Any = partial(driver.trajectory, code)
        self.many: Any = partial(driver.many, code)
        self.code = code
        self._addresses: dict[str, int] = {}

    @staticmethod
    def of(name: str, text: str, inline: Inline | None) -> "MachineCode":
        """Of LLVM's text, from the cache or compiled into it; the text is kept under that name, for people."""
        if found("kernels", f"{name}.ll") is None:
            keep("kernels", f"{name}.ll", lambda path: path.write_text(text, encoding="utf-8"))
        if f"@{robust.SETTLE}(" in text:
            robust.announced()
        return MachineCode(loaded(text, optimised=True), inline)

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
