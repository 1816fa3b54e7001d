"""Exact derivatives of rollouts, forward and adjoint."""

from sim.gradients.rollout import Gradient, Rollout, rollout_gradient

__all__ = ["Gradient", "Rollout", "rollout_gradient"]
