"""Model predictive control: plans made anew all the time from where a vehicle will be, each taking over from the last.

`loop` is the one loop, with a clock or without, `pilot` flies a lane by it, `plans` has what planner and loop exchange.
"""

from sim.control.mpc.loop import MpcLoop, MpcPilot, MpcStatus, TimedPlan, predicted
from sim.control.mpc.plans import FlownPlan, MpcAnswer, MpcRequest, PlanSource, StartMpc

__all__ = [
    "FlownPlan",
    "MpcAnswer",
    "MpcLoop",
    "MpcPilot",
    "MpcRequest",
    "MpcStatus",
    "PlanSource",
    "StartMpc",
    "TimedPlan",
    "predicted",
]
