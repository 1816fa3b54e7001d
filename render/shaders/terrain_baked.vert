// Terrain whose light was baked at its vertices; haze per vertex too.
#include "sky.glsl"

in vec3 position;
in vec3 normal;
in vec3 baked_ambient;
in vec3 baked_sun;

out vec3 p_w;
out vec3 p_sun;  // in the canyon's shadow map
out vec3 ambient;
out vec3 sun;
out vec3 inscatter;
out vec2 detail_uv;

void main() {
    p_w = position;
    float lift = 0.5 + 0.003 * distance(position, eye.xyz);
    p_sun = (sun_shadow * vec4(position + normal * lift, 1.0)).xyz;
    vec3 transmittance;
    haze_to(position, transmittance, inscatter);
    ambient = baked_ambient * transmittance;
    sun = baked_sun * transmittance;
    detail_uv = vec2((position.x + position.y) * 0.020, position.z * 0.075 + (position.x - position.y) * 0.012);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
