// A coned rotor disc; `polar` is (share from root to tip, azimuth). It is lit and hazed per vertex.
#include "sky.glsl"

in vec2 polar;

uniform mat4 world_from_disc;
uniform sampler2DShadow sun_shadow_map;
uniform vec3 extent;  // root, radius, coning angle

out vec3 p_w;
out vec2 at;          // radius in m, azimuth
out vec3 incoming;    // radiance that a white diffuse blade would send on
out vec3 clearness, veil;
out float edge_on;    // 0 when seen along the disc, 1 from straight above or below

void main() {
    float radius = mix(extent.x, extent.y, polar.x);
    vec2 dir = vec2(cos(polar.y), sin(polar.y));
    vec4 p = world_from_disc * vec4(radius * cos(extent.z) * dir, radius * sin(extent.z), 1.0);
    vec3 n = normalize(mat3(world_from_disc) * vec3(-sin(extent.z) * dir, cos(extent.z)));
    vec3 v = normalize(eye.xyz - p.xyz);
    if (dot(n, v) < 0.0) n = -n;
    p_w = p.xyz;
    at = vec2(radius, polar.y);
    edge_on = dot(n, v);
    gl_Position = clip_from_world * p;
#ifndef DEPTH_ONLY
    float nl = dot(n, sun_direction.xyz);
    float facing = max(nl, 0.0) + 0.15 * max(-nl, 0.0);
    float lit = textureLod(sun_shadow_map, (sun_shadow * vec4(p_w + vec3(0.0, 0.0, 0.35), 1.0)).xyz, 0.0);
    incoming = (sun_irradiance.rgb * facing * lit + sky_irradiance(n)) / PI;
    haze_to(p_w, clearness, veil);
#endif
}
