"""Contact of bodies with terrain and obstacles: rows, their solver, and the ground that kernels meet."""
