"""A beginner at the keys of the guided first flight: sees the due goal, its marker and the instruments, and presses
no key but those that the goal tells."""

import math

import numpy as np

from tests.app.desktop import App, Probe

KEYS = {
    "pitch+": "w",
    "pitch-": "s",
    "roll-": "a",
    "roll+": "d",
    "yaw-": "q",
    "yaw+": "e",
    "throttle+": "r",
    "throttle-": "f",
}
CRUISE_MPS = 26.0
LONGEST_S = {"Fly along the river": 0.5}
"""Simulated time between two looks, by goal; elsewhere USUAL_S."""
USUAL_S = 0.3
SLOWEST = -5
"""Doublings of speed: the simulation goes no slower than 1/32."""


MOST_CRASHES = 5


class Beginner:
    """Presses and releases keys; slows time down where the window is looked at too seldom to fly by.

    A picture that comes far too late is the end of any flight by sight: after a crash it goes back and flies on slower.
    """

    def __init__(self, app: App) -> None:
        self._app, self._held, self._settled = app, set[str](), False
        self._looked_s, self._doubled, self._crashes = 0.0, 0, 0

    def look(self, seen: Probe) -> None:
        """Do what the due goal asks for."""
        if seen["lanes"][0]["status"] == "crashed":
            self._go_back(seen)
            return
        wanted = self._wanted(seen) & set(seen["goals"]["keys"])
        for name, key in KEYS.items():
            if (name in wanted) != (name in self._held):
                self._app.screen.xdotool("keydown" if name in wanted else "keyup", key)
        self._held = wanted
        passed_s, self._looked_s = seen["clock_s"] - self._looked_s, seen["clock_s"]
        longest_s = LONGEST_S.get(seen["goals"]["due"], USUAL_S)
        if passed_s > longest_s:
            self._hasten(-1)
        elif passed_s < 0.4 * longest_s and self._doubled < 1 - self._crashes:
            self._hasten(1)

    def _hasten(self, doublings: int) -> None:
        self._doubled = max(self._doubled + doublings, SLOWEST)
        self._app.screen.xdotool("key", "bracketright" if doublings > 0 else "bracketleft")

    def _go_back(self, seen: Probe) -> None:
        self._crashes += 1
        assert self._crashes <= MOST_CRASHES, seen["lanes"][0]["status_text"]
        self.let_go()
        for _ in range(3 + 2 * self._crashes):
            self._app.screen.xdotool("key", "F5")
        self._app.wait_until(lambda p: p["look_back"] is not None, timeout_s=60, what="it looks back")
        self._hasten(-1)
        self._app.screen.xdotool("key", "F7")
        flying = self._app.wait_until(lambda p: p["look_back"] is None, timeout_s=60, what="it flies on")
        self._looked_s = flying["clock_s"]

    def let_go(self) -> None:
        """Of all keys."""
        for name in self._held:
            self._app.screen.xdotool("keyup", KEYS[name])
        self._held = set()

    def _key(self, axis: str, value: float, least: float) -> set[str]:
        """The key of one side of an axis, which is held on for less than it is pressed for."""
        return {
            axis + side
            for side, share in (("+", value), ("-", -value))
            if share > (0.6 * least if axis + side in self._held else least)
        }

    def _wanted(self, seen: Probe) -> set[str]:
        goals, lane = seen["goals"], seen["lanes"][0]
        if goals["due"] == "Take off":
            return {"throttle+"}
        if goals["marker_w"] is None:
            return set()
        rise = lane["nose_w"][2]
        level = math.sqrt(1.0 - rise * rise)
        forward = lane["v_b"][0] * level - lane["v_b"][2] * rise
        right, up = -lane["v_b"][1], lane["v_b"][0] * rise + lane["v_b"][2] * level
        to_w = np.array(goals["marker_w"]) - lane["x_w"]
        heading, height_m = lane["heading_rad"], lane["height_above_ground_m"]
        if goals["due"].startswith("Fly"):
            turn = (math.atan2(to_w[1], to_w[0]) - heading + math.pi) % (2.0 * math.pi) - math.pi
            return (
                self._key("yaw", -1.5 * turn, 0.35)
                | self._key("pitch", (CRUISE_MPS * max(math.cos(turn), 0.0) - forward) / 8.0, 0.35)
                | self._key("throttle", (to_w[2] - 1.5 * up) / 10.0, 0.35)
                | self._key("roll", -right / 8.0, 0.5)
            )
        off_m = float(np.hypot(to_w[0], to_w[1]))
        most_mps = 12.0 if off_m > 60.0 else 6.0
        wanted = to_w[:2] * min(0.2, most_mps / max(off_m, 1e-9))
        ahead, aside = (math.cos(heading), math.sin(heading)), (math.sin(heading), -math.cos(heading))
        lands = goals["due"] == "Land"
        self._settled = lands and off_m < (7.5 if self._settled else 6.0)
        keys = set[str]()
        if not self._settled:
            keys |= self._key("pitch", 0.3 * (float(wanted @ ahead) - forward), 0.3)
            keys |= self._key("roll", 0.3 * (float(wanted @ aside) - right), 0.3)
        down = (self._settled and math.hypot(forward, right) < 1.0) or height_m < 1.5
        if lands and down:
            return keys | self._key("throttle", 0.8 * ((-1.0 if height_m > 3.0 else -0.6) - up), 0.4)
        height_to_m = 8.0 if lands else 12.0
        climb_mps = min(max((height_to_m - height_m) / 3.0, -3.0), 3.0)
        return keys | self._key("throttle", 0.5 * (climb_mps - up), 0.4)
