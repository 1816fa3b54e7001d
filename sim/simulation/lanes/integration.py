"""Integrating a lane: the integrator's private state, its time in whole steps, and the node that it stands for."""

from collections.abc import Callable

import numpy as np

from sim.environment.environment import Environment
from sim.recordings.segment import Moment
from sim.simulation.lanes.placing import Footing
from sim.steppers.dynamics import Dynamics


class Integration:
    """Owns the private state of one lane. Reading changes nothing; arrays that are handed out are not written to."""

    def __init__(self, dynamics: Dynamics, footing: Footing, node: np.ndarray, time_s: float) -> None:
        """From a flat node, under neutral controls."""
        self._node: np.ndarray | None = None
        self._wrench_b = np.zeros(6)
        self.begin(dynamics, footing, node, time_s)

    def begin(
        self,
        dynamics: Dynamics,
        footing: Footing,
        node: np.ndarray,
        time_s: float,
        controls: np.ndarray | None = None,
    ) -> None:
        """Start from a flat node, under controls that act now; None: neutral ones."""
        self.dynamics, self.footing = dynamics, footing
        self._since_s, self.steps = time_s, 0
        self.starts = True
        """The first controls that come are those that it starts under: what is carried then is so under them."""
        self.controls = dynamics.vehicle.neutral_controls if controls is None else controls
        """(n_controls,) that act now."""
        self.environment.forget()
        self.environment.renew(dynamics.vehicle, time_s)
        self.state = self._started(node)
        """The integrator's own, flat."""
        self.good_node = node.copy()
        """The last one that was accepted."""
        self._node = None

    def put(self, dynamics: Dynamics, footing: Footing, moment: Moment) -> None:
        """Exactly to a recorded moment."""
        self.dynamics, self.footing = dynamics, footing
        self.environment.restore(moment.memory)
        self._since_s, self.steps, self.starts = moment.segment.since_s, moment.step, False
        self.controls, self.state = moment.controls, moment.state.copy()
        self._node = None
        self.good_node = self.node.copy()

    @property
    def environment(self) -> Environment:
        """What surrounds the vehicle within its steps."""
        return self.footing.environment

    @property
    def since_s(self) -> float:
        """Simulated time from which on steps are counted."""
        return self._since_s

    @property
    def time_s(self) -> float:
        """Simulated time of the node; counted in whole steps, so it does not accumulate rounding."""
        return self._since_s + self.steps * self.dynamics.step_s

    @property
    def controls_left_s(self) -> float:
        """How long the present controls still act before they are evaluated anew."""
        m = self.dynamics
        return -self.steps % m.control_steps * m.step_s

    @property
    def evaluates(self) -> bool:
        """Whether controls are evaluated at this step."""
        return self.steps % self.dynamics.control_steps == 0

    @property
    def node(self) -> np.ndarray:
        """Pose and node velocity now, flat."""
        node = self._node
        return self._read() if node is None else node

    @property
    def environment_wrench_b(self) -> np.ndarray:
        """(6,) what ground and water do at the node."""
        _ = self.node
        return self._wrench_b

    def act(self, controls: np.ndarray) -> None:
        """These controls from now on."""
        self.controls, self._node = controls, None
        if self.steps == 0 and self.starts:
            self.state = self._started(self.good_node)

    def push(self, impulse: np.ndarray) -> None:
        """An impulse (impulse_size,) at the start of the step that comes."""
        m = self.dynamics
        m.kernel.strike(m.vehicle, self.state, impulse, self.controls, m.step_s)
        self._node = None

    def advance(
        self, count: int, told: Callable[[np.ndarray, np.ndarray], None] | None = None
    ) -> tuple[int, int, int]:
        """Up to `count` steps under the present controls; (steps done, status, iterations) of the kernel.

        told: after each step, of the node that it began at and what surroundings did there.
        """
        if told is not None:
            return self._advance_by_one(count, told)
        m = self.dynamics
        done, status, iterations = m.kernel.advance(
            self.state,
            self.controls,
            np.zeros(m.kernel.dim),
            m.parameters,
            m.step_s,
            count,
            self.environment.env,
        )
        self.steps += done
        self._node = None
        return done, status, iterations

    def _advance_by_one(
        self, count: int, told: Callable[[np.ndarray, np.ndarray], None]
    ) -> tuple[int, int, int]:
        done, status, iterations = 0, 0, 0
        while done < count and not status:
            before, w_b = self.node, self.environment_wrench_b.copy()
            taken, status, needed = self.advance(1)
            done, iterations = done + taken, iterations + needed
            if not status:
                told(before, w_b)
        return done, status, iterations

    def accept(self) -> None:
        """The present node is a good one."""
        self.good_node = self.node

    def fall_back(self) -> None:
        """The last good node stands for the present one, which cannot be gone on from."""
        self._node = self.good_node

    def _started(self, node: np.ndarray) -> np.ndarray:
        """The integrator's private state for a node."""
        m = self.dynamics
        return m.kernel.start(node, self.controls, m.parameters, m.step_s, self.environment.probe().env)

    def _read(self) -> np.ndarray:
        """The node, and with it what the environment does there."""
        m, around = self.dynamics, self.environment.probe()
        self._node = m.kernel.node(self.state, self.controls, m.parameters, m.step_s, env=around.env)
        self._wrench_b = around.wrench_b
        return self._node
