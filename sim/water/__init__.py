"""Moving water: the sea's waves (`ocean`), water in a tank or box (`flip`), and what either does to a hull."""
