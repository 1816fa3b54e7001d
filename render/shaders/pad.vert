// Landing pad, already in the world.
#include "sky.glsl"

in vec3 position;
in vec3 normal;
in vec2 uv;

out vec3 p_w;
out vec3 n_w;
out vec2 pad_m;
out vec3 transmittance;
out vec3 inscatter;

void main() {
    p_w = position;
    n_w = normal;
    pad_m = uv;
    haze_to(position, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
