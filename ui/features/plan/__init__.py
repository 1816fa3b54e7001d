"""The planner in the window: its panel, what is moved and clicked in the scene, and what is asked of it (`actions`)."""
