// A coned rotor disc; `polar` is (share from root to tip, azimuth).
#include "frame.glsl"

in vec2 polar;

uniform mat4 world_from_disc;
uniform vec3 extent;  // root, radius, coning angle

out vec3 p_w, n_w;
out vec2 at;  // radius in m, azimuth

void main() {
    float radius = mix(extent.x, extent.y, polar.x);
    vec2 dir = vec2(cos(polar.y), sin(polar.y));
    vec4 p = world_from_disc * vec4(radius * cos(extent.z) * dir, radius * sin(extent.z), 1.0);
    p_w = p.xyz;
    n_w = mat3(world_from_disc) * vec3(-sin(extent.z) * dir, cos(extent.z));
    at = vec2(radius, polar.y);
    gl_Position = clip_from_world * p;
}
