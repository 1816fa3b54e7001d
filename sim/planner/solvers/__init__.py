"""What solves a program: fatrop, IPOPT, and a Newton method of our own on the stage structure."""
