"""Mechanics of vehicles on Lie groups: structure-preserving integrators, compiled from symbolic declarations."""
