"""What panels, keys, planner and scripts ask of the simulation: plain values put in its queue.

Every command is carried out between two steps by the simulation thread. One that cannot be
(unknown name, value out of range) changes nothing and is answered in `Snapshot.message`.

A module has the values of a subject and, beside each, what it does to the simulation; `Command` is any of them.
"""

from sim.control.mpc import StartMpc
from sim.control.plan_following import FlyPlan
from sim.controllers import PilotInput
from sim.simulation.commands.clock import (
    SPEED_RANGE,
    Reset,
    SetPaused,
    SetPilotInput,
    SetSpeed,
    SingleStep,
    StartAt,
)
from sim.simulation.commands.executing import execute
from sim.simulation.commands.flying import (
    FlyBy,
    RenewController,
    SetControls,
    SetDemo,
    SetFlightMode,
    SetGain,
    StopMpc,
    StopPlan,
)
from sim.simulation.commands.lanes import (
    AddLane,
    KeepAccount,
    KeepGhosts,
    LetGo,
    RaceAgainst,
    RemoveLane,
    SetLanePilot,
    SetLaneTint,
    SetReference,
    ShowMeasured,
)
from sim.simulation.commands.takes import (
    KEEP_LOOKING,
    BackToNow,
    KeepTake,
    PlayTake,
    Resimulate,
    Retake,
    Scrub,
)
from sim.simulation.commands.vehicle import (
    GiveUpWaiting,
    HoldControl,
    RenewVehicle,
    SetCoordinates,
    SetIntegrator,
    SetLayout,
    SetParameter,
    SetProps,
    SetStep,
    SetVehicle,
)
from sim.simulation.lanes.impulses import Pull, Push

__all__ = [
    "SPEED_RANGE",
    "AddLane",
    "BackToNow",
    "Command",
    "FlyBy",
    "FlyPlan",
    "GiveUpWaiting",
    "HoldControl",
    "KeepAccount",
    "KeepGhosts",
    "KeepTake",
    "LetGo",
    "PilotInput",
    "PlayTake",
    "Pull",
    "Push",
    "RaceAgainst",
    "RemoveLane",
    "RenewController",
    "RenewVehicle",
    "Reset",
    "Resimulate",
    "Retake",
    "Scrub",
    "SetControls",
    "SetCoordinates",
    "SetDemo",
    "SetFlightMode",
    "SetGain",
    "SetIntegrator",
    "SetLanePilot",
    "SetLaneTint",
    "SetLayout",
    "SetParameter",
    "SetPaused",
    "SetPilotInput",
    "SetProps",
    "SetReference",
    "SetSpeed",
    "SetStep",
    "SetVehicle",
    "ShowMeasured",
    "SingleStep",
    "StartAt",
    "StartMpc",
    "StopMpc",
    "StopPlan",
    "KEEP_LOOKING",
    "execute",
]


Command = (
    SetPilotInput
    | SetPaused
    | SingleStep
    | SetSpeed
    | Reset
    | StartAt
    | SetIntegrator
    | GiveUpWaiting
    | SetStep
    | SetVehicle
    | RenewVehicle
    | SetParameter
    | SetFlightMode
    | SetControls
    | SetDemo
    | FlyBy
    | SetGain
    | RenewController
    | AddLane
    | RemoveLane
    | SetLaneTint
    | SetLanePilot
    | SetReference
    | KeepAccount
    | Pull
    | LetGo
    | Push
    | SetCoordinates
    | SetProps
    | SetLayout
    | HoldControl
    | FlyPlan
    | StopPlan
    | StartMpc
    | StopMpc
    | Scrub
    | BackToNow
    | Retake
    | PlayTake
    | Resimulate
    | KeepTake
    | KeepGhosts
    | ShowMeasured
    | RaceAgainst
)
