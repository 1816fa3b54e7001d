"""Many runs, derivatives and fits: what scripts ask of vehicles beyond one simulation.

`batch` runs many lanes at once, `sweep` asks one question at many points on all cores or a cluster, `gradient` has
exact derivatives of rollouts, `identify` fits parameters to measured flights, `learning_environments` are for
reinforcement learning. `sim` has them all by name.
"""
