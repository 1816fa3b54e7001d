"""What comes of it: the plan, the constraints that are active in it, why there is none; as plain values too."""
