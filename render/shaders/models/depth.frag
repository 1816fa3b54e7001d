// Solid parts in a shadow map.
void main() {}
