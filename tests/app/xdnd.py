"""Another program from which files are dragged onto a window: a source of the XDND protocol, version 5.

    python -m tests.app.xdnd FILE TYPES    with DISPLAY set; exits 0 once the window has taken it

It finds the window that says that it takes drops (`XdndAware`), enters it, moves over its middle, drops, and hands the
file over as `text/uri-list`, one of so many types that it offers, when it is asked for it.
"""

import sys
from collections.abc import Callable
from ctypes import POINTER, byref, c_int, c_ubyte, c_uint, c_ulong, cast
from pathlib import Path

from pyglet.libs.x11 import xlib

from tests.patience import wait_until

_VERSION = 5


class Source:
    """An unmapped window that owns the selection."""

    def __init__(self, file: Path, types: int) -> None:
        self._display = xlib.XOpenDisplay(None)
        assert self._display, "no screen"
        self._root = xlib.XDefaultRootWindow(self._display)
        self._own = xlib.XCreateSimpleWindow(self._display, self._root, 0, 0, 1, 1, 0, 0, 0)
        uris = f"{file.resolve().as_uri()}\r\n".encode()
        self._data = (c_ubyte * len(uris)).from_buffer_copy(uris)
        offered = [self._atom(f"text/x-other-{k}") for k in range(types - 1)] + [self._atom("text/uri-list")]
        self._in_event = (*offered[:3], 0, 0, 0)[:3]
        self._many = types > 3
        listed = (c_ulong * types)(*offered)
        xlib.XChangeProperty(
            self._display, self._own, self._atom("XdndTypeList"), self._atom("ATOM"), 32, 0,
            cast(listed, POINTER(c_ubyte)), types,
        )  # fmt: skip
        xlib.XSetSelectionOwner(self._display, self._atom("XdndSelection"), self._own, 0)

    def drop(self) -> None:
        """The whole gesture."""
        target = self._target()
        x, y = self._middle(target)
        self._send(target, "XdndEnter", self._own, _VERSION << 24 | self._many, *self._in_event)
        copy = self._atom("XdndActionCopy")
        self._send(target, "XdndPosition", self._own, 0, x << 16 | y, 0, copy)
        status = self._message("XdndStatus")
        assert status.data.l[1] & 1, "the window refuses the drop"
        self._send(target, "XdndDrop", self._own, 0, 0, 0, 0)
        # Not until XdndFinished: pyglet sends that to the root window.
        self._answered(lambda event: event.type == xlib.SelectionRequest)

    def _atom(self, name: str) -> int:
        return int(xlib.XInternAtom(self._display, name.encode(), False))

    def _target(self) -> int:
        root, parent, children, count = xlib.Window(), xlib.Window(), POINTER(xlib.Window)(), c_uint()

        def aware() -> list[int]:
            xlib.XQueryTree(
                self._display, self._root, byref(root), byref(parent), byref(children), byref(count)
            )
            return [int(children[k]) for k in range(count.value) if self._aware(children[k])]

        return wait_until(aware, "no window takes drops", every_s=0.1)[0]

    def _aware(self, window: int) -> bool:
        kind, form, items, left = xlib.Atom(), c_int(), c_ulong(), c_ulong()
        data = POINTER(c_ubyte)()
        xlib.XGetWindowProperty(
            self._display, window, self._atom("XdndAware"), 0, 1, False, 0, byref(kind), byref(form),
            byref(items), byref(left), byref(data),
        )  # fmt: skip
        return bool(kind.value)

    def _middle(self, window: int) -> tuple[int, int]:
        """On the screen."""
        root, x, y, width, height, border, depth = (
            xlib.Window(), c_int(), c_int(), c_uint(), c_uint(), c_uint(), c_uint(),
        )  # fmt: skip
        xlib.XGetGeometry(
            self._display, window, byref(root), byref(x), byref(y), byref(width), byref(height),
            byref(border), byref(depth),
        )  # fmt: skip
        return x.value + width.value // 2, y.value + height.value // 2

    def _send(self, window: int, kind: str, *data: int) -> None:
        event = xlib.XEvent()
        event.xclient.type, event.xclient.format = xlib.ClientMessage, 32
        event.xclient.message_type, event.xclient.window = self._atom(kind), window
        for k, value in enumerate(data):
            event.xclient.data.l[k] = value
        xlib.XSendEvent(self._display, window, False, xlib.NoEventMask, byref(event))
        xlib.XFlush(self._display)

    def _message(self, kind: str) -> xlib.XClientMessageEvent:
        """The window's next message of a kind."""
        wanted = self._atom(kind)
        return self._answered(
            lambda event: event.type == xlib.ClientMessage and event.xclient.message_type == wanted
        ).xclient

    def _answered(self, wanted: Callable[[xlib.XEvent], bool]) -> xlib.XEvent:
        """The first such event; until then, and with it, the window is given what it asks for."""

        def answer() -> xlib.XEvent | None:
            while xlib.XPending(self._display):
                event = xlib.XEvent()
                xlib.XNextEvent(self._display, byref(event))
                if event.type == xlib.SelectionRequest:
                    self._hand_over(event.xselectionrequest)
                if wanted(event):
                    return event
            return None

        event = wait_until(answer, "the window has not answered", every_s=0.01)
        assert event is not None
        return event

    def _hand_over(self, asked: xlib.XSelectionRequestEvent) -> None:
        replace = 0
        xlib.XChangeProperty(
            self._display, asked.requestor, asked.property, asked.target, 8, replace,
            cast(self._data, POINTER(c_ubyte)), len(self._data),
        )  # fmt: skip
        event = xlib.XEvent()
        given = event.xselection
        given.type, given.requestor, given.selection = xlib.SelectionNotify, asked.requestor, asked.selection
        given.target, given.property, given.time = asked.target, asked.property, asked.time
        xlib.XSendEvent(self._display, asked.requestor, False, xlib.NoEventMask, byref(event))
        xlib.XSync(self._display, False)


if __name__ == "__main__":
    Source(Path(sys.argv[1]), int(sys.argv[2])).drop()
