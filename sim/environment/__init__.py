"""What acts on a vehicle from outside: the ground that it touches, water and wind."""
