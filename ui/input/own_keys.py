"""Keys that the user has chosen: for actions of the viewer, and for those of each vehicle. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

VIEWER = ""
"""The scope of actions that every vehicle has."""


@dataclass(frozen=True, slots=True)
class OwnKey:
    """Keys of one action instead of the usual ones."""

    scope: str
    """A vehicle's name, or VIEWER."""
    action: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OwnKeys:
    """All of them; hashable."""

    chosen: tuple[OwnKey, ...] = ()

    def of(self, scope: str) -> Mapping[str, tuple[str, ...]]:
        """Action -> its keys."""
        return {own.action: own.keys for own in self.chosen if own.scope == scope}

    def with_keys(self, scope: str, action: str, keys: tuple[str, ...]) -> "OwnKeys":
        """The action has these, and no others."""
        return OwnKeys((*self.without(scope, action).chosen, OwnKey(scope, action, keys)))

    def without(self, scope: str, action: str) -> "OwnKeys":
        """The action has its usual keys again."""
        return OwnKeys(tuple(own for own in self.chosen if (own.scope, own.action) != (scope, action)))
