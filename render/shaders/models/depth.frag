// Solid parts in a shadow map.
in vec3 p_w;

void main() {}
