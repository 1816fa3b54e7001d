// A surface of a plan, in world coordinates already.
#include "frame.glsl"

in vec3 position, normal;
in vec4 surface_colour;

out vec3 p_w, n_w;
out vec4 tone;

void main() {
    p_w = position;
    n_w = normal;
    tone = surface_colour;
    gl_Position = clip_from_world * vec4(position, 1.0);
}
