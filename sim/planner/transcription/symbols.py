"""Named slices of one flat symbolic vector."""

from dataclasses import dataclass

import casadi as ca
import numpy as np


@dataclass(frozen=True)
class Slots:
    """A flat vector cut into named pieces, in order."""

    sizes: dict[str, int]

    @property
    def size(self) -> int:
        return sum(self.sizes.values())

    def slice(self, name: str) -> slice:
        """Where a piece stands."""
        at = 0
        for key, size in self.sizes.items():
            if key == name:
                return slice(at, at + size)
            at += size
        raise KeyError(name)

    def split(self, vector: ca.SX) -> dict[str, ca.SX]:
        """Pieces of a column, as columns: CasADi makes a row of nothing where the whole is one number."""
        return {name: ca.reshape(vector[self.slice(name)], size, 1) for name, size in self.sizes.items()}

    def pack(self, **pieces: object) -> np.ndarray:
        """Flat array of all pieces, each given by name."""
        assert set(pieces) == set(self.sizes), set(pieces) ^ set(self.sizes)
        parts = [np.asarray(pieces[name], float).ravel() for name in self.sizes]
        for part, (name, size) in zip(parts, self.sizes.items(), strict=True):
            assert part.size == size, (name, part.size, size)
        return np.concatenate(parts) if parts else np.zeros(0)

    def tile(self, vectors: np.ndarray, name: str) -> np.ndarray:
        """(n, size of the piece) of rows of flat vectors."""
        return vectors[:, self.slice(name)]
