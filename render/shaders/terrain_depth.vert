// Terrain seen by the sun.
#include "frame.glsl"

in vec3 position;

void main() { gl_Position = clip_from_world * vec4(position, 1.0); }
