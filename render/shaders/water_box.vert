// Water in a glass box, already in the world.
#include "sky.glsl"

in vec3 position;
in vec3 normal;
in float foam;

out vec3 p_w;
out vec3 n_w;
out float white;
out vec3 transmittance;
out vec3 inscatter;

void main() {
    p_w = position;
    n_w = normal;
    white = foam;
    haze_to(position, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
