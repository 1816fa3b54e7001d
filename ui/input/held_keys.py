"""Which keys are down, by name. One set, cleared when the window loses the focus."""

from ui.input.binding import KeyBinding, actions_by_key


class HeldKeys:
    """Remembers the keys of some tables while they are down."""

    def __init__(self, *tables: tuple[KeyBinding, ...]) -> None:
        self._actions = {key: action for table in tables for key, action in actions_by_key(table).items()}
        self._down: set[str] = set()

    def press(self, key: str) -> None:
        if key in self._actions:
            self._down.add(key)

    def release(self, key: str) -> None:
        """A key that is not down is no mistake: its press may have gone to a text field."""
        self._down.discard(key)

    def take_over(self, before: "HeldKeys") -> None:
        """What was down before and means something here is down."""
        self._down = before._down & self._actions.keys()

    def release_all(self) -> None:
        self._down.clear()

    @property
    def actions(self) -> frozenset[str]:
        """Actions whose key is down; an action stays while any of its keys does."""
        return frozenset(self._actions[key] for key in self._down)
