"""What panels, keys, planner and scripts ask of the simulation: plain values put in its queue.

Every command is carried out between two steps by the simulation thread. One that cannot be
(unknown name, value out of range) changes nothing and is answered in `Snapshot.message`.
"""

from sim.commands.lanes import (
    AddLane,
    GiveUpWaiting,
    RaceAgainst,
    RemoveLane,
    RenewVehicle,
    SetIntegrator,
    SetLanePilot,
    SetLaneTint,
    SetParameter,
    SetReference,
    SetStep,
    SetVehicle,
    ShowMeasured,
)
from sim.commands.pilot import LetGo, Pull, SetDemo, SetFlightMode, SetPilotInput
from sim.commands.plans import (
    FlyPlan,
    FollowCourse,
    Pursue,
    StopPlan,
    StopPursuit,
)
from sim.commands.running import (
    SPEED_RANGE,
    Reset,
    SetPaused,
    SetSpeed,
    SingleStep,
    StartAt,
)
from sim.commands.takes import (
    BackToNow,
    KeepTake,
    PlayTake,
    Resimulate,
    Retake,
    Scrub,
)
from sim.control.pilot import PilotInput

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
    | SetDemo
    | AddLane
    | RemoveLane
    | SetLaneTint
    | SetLanePilot
    | SetReference
    | Pull
    | LetGo
    | FlyPlan
    | FollowCourse
    | StopPlan
    | Pursue
    | StopPursuit
    | Scrub
    | BackToNow
    | Retake
    | PlayTake
    | Resimulate
    | KeepTake
    | ShowMeasured
    | RaceAgainst
)


__all__ = [
    "SPEED_RANGE",
    "AddLane",
    "BackToNow",
    "Command",
    "FlyPlan",
    "FollowCourse",
    "GiveUpWaiting",
    "KeepTake",
    "LetGo",
    "PilotInput",
    "PlayTake",
    "Pull",
    "Pursue",
    "RaceAgainst",
    "RemoveLane",
    "RenewVehicle",
    "Reset",
    "Resimulate",
    "Retake",
    "Scrub",
    "SetDemo",
    "SetFlightMode",
    "SetIntegrator",
    "SetLanePilot",
    "SetLaneTint",
    "SetParameter",
    "SetPaused",
    "SetPilotInput",
    "SetReference",
    "SetSpeed",
    "SetStep",
    "SetVehicle",
    "ShowMeasured",
    "SingleStep",
    "StartAt",
    "StopPlan",
    "StopPursuit",
]
