// What is solid about a tank, already in the world.
#include "sky.glsl"

in vec3 position;
in vec3 normal;
in vec3 albedo;

out vec3 p_w;
out vec3 n_w;
out vec3 paint;
out vec3 transmittance;
out vec3 inscatter;

void main() {
    p_w = position;
    n_w = normal;
    paint = albedo;
    haze_to(position, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
