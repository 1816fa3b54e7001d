// Where the land's grain is looked up, and how much of it is bedding.
vec2 on_level(vec3 p) { return p.xy * 0.06; }
vec2 on_bedding(vec3 p) { return vec2((p.x + p.y) * 0.006, p.z * 0.065 + (p.x - p.y) * 0.001); }
float walled(float upward) { return clamp((0.80 - upward) / 0.18, 0.0, 1.0); }
