// A pane of glass, already in the world.
#include "sky.glsl"

in vec3 position;
in vec3 normal;

out vec3 p_w;
out vec3 n_w;

uniform float facing;  // 1 outside, -1 inside

void main() {
    p_w = position;
    n_w = normal * facing;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
