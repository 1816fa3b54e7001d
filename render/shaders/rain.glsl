// Rain about the eye: as many drops or rings as there are, each a quad of six vertices, from its number alone.
#include "sky.glsl"

const vec3 FALL = vec3(4.3, 1.4, -7.6);  // m/s; it leans as the clouds drift
const vec2 CORNERS[6] = vec2[](vec2(-1, 0), vec2(1, 0), vec2(1, 1), vec2(-1, 0), vec2(1, 1), vec2(-1, 1));

vec3 hashed(float n) { return fract(sin(vec3(n + 0.13, n + 1.71, n + 2.93) * vec3(12.9898, 78.233, 37.719)) * 4375.85); }

// Of the size of a box, the place of a seed that moves through the world, of all its copies the one in the box about the eye.
vec3 near_eye(vec3 seed, vec3 box, vec3 moved) { return eye.xyz + (fract(seed + (moved - eye.xyz) / box) - 0.5) * box; }
