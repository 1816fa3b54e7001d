"""Short messages that go away by themselves."""

from dataclasses import dataclass

LIFETIME_S = 5.0
ERROR_LIFETIME_S = 9.0
ONGOING_LIFETIME_S = 2.0
"""Of what ends in "...": it is said again as long as it goes on."""
FADE_S = 0.6
MOST = 4


@dataclass(frozen=True, slots=True)
class Toast:
    text: str
    error: bool
    born_s: float

    @property
    def dies_s(self) -> float:
        if self.text.endswith("..."):
            return self.born_s + ONGOING_LIFETIME_S
        return self.born_s + (ERROR_LIFETIME_S if self.error else LIFETIME_S)

    def opacity(self, now_s: float) -> float:
        """1, falling to 0 at the end of its life."""
        return min(max((self.dies_s - now_s) / FADE_S, 0.0), 1.0)


class Toasts:
    """The messages of the last seconds, newest last."""

    def __init__(self) -> None:
        self._toasts: list[Toast] = []
        self._heard = ""

    def add(self, text: str, now_s: float, *, error: bool = False) -> None:
        """Show `text`; one that is already shown starts its life again."""
        self._toasts = [toast for toast in self._toasts if toast.text != text]
        self._toasts.append(Toast(text, error, now_s))
        self._toasts = self._toasts[-MOST:]

    def hear(self, message: str, now_s: float) -> None:
        """The simulation's last message: shown once, when it changes, or as long as it tells of what goes on."""
        if message and (message != self._heard or message.endswith("...")):
            self.add(message, now_s)
        self._heard = message

    def visible(self, now_s: float) -> tuple[Toast, ...]:
        self._toasts = [toast for toast in self._toasts if toast.dies_s > now_s]
        return tuple(self._toasts)
