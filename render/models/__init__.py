"""Vehicles as pictures: models from files, their moving parts, rotor discs, ghosts and wrecks."""
