"""What is to be planned: start, goal, limits, obstacles, ground; read, checked and edited. Knows no optimisation."""
