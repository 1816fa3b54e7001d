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
        self._heard = ("", 0)

    def add(self, text: str, now_s: float, *, error: bool = False) -> None:
        """Show `text`; one that is already shown starts its life again."""
        self._toasts = [toast for toast in self._toasts if toast.text != text]
        self._toasts.append(Toast(text, error, now_s))
        self._toasts = self._toasts[-MOST:]

    def stand(self, text: str, now_s: float, *, instead_of: str = "") -> None:
        """An error that is said once a frame, as long as it lasts; another one, or none, takes its place at once."""
        if instead_of and instead_of != text:
            self._toasts = [toast for toast in self._toasts if toast.text != instead_of]
        at = next((k for k, toast in enumerate(self._toasts) if toast.text == text), None)
        if at is not None:
            self._toasts[at] = Toast(text, True, now_s)
        elif text:
            self.add(text, now_s, error=True)

    def hear(self, message: str, now_s: float, answers: int = 0) -> None:
        """The simulation's last message: shown once, when it is another one, or as long as it tells of what goes on.

        `answers`: how many there have been, which tells two that are alike apart.
        """
        heard = (message, answers)
        if message and (heard != self._heard or message.endswith("...")):
            self.add(message, now_s)
        self._heard = heard

    def visible(self, now_s: float) -> tuple[Toast, ...]:
        self._toasts = [toast for toast in self._toasts if toast.dies_s > now_s]
        return tuple(self._toasts)
