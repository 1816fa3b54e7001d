// Terrain whose light was baked at its vertices; haze per vertex too.
#include "sky.glsl"
#include "strata.glsl"

in vec3 position;
in vec3 normal;
in vec4 traits;
#if LIGHT_MAP
in vec2 place;
out vec2 light_uv;
out vec3 clear;  // transmittance of the haze
#else
in vec3 baked_ambient;
in vec3 baked_sun;
in float baked_visibility;
out vec3 ambient;
out vec3 sun;
out float visibility;
#endif
in float baked_strata;

out vec3 p_w;
out vec3 p_sun;  // in the canyon's shadow map
out vec3 p_vehicle;  // in that of the vehicles
out vec3 inscatter;
out vec2 bedding_uv;
out float steep;
out float strata;   // coordinate in the band map
out float bedrock;  // share of rock that is not covered

void main() {
    p_w = position;
    float lift = 0.5 + 0.003 * distance(position, eye.xyz);
    p_sun = (sun_shadow * vec4(position + normal * lift, 1.0)).xyz;
    p_vehicle = (vehicle_shadow * vec4(position, 1.0)).xyz;
    vec3 transmittance;
    haze_to(position, transmittance, inscatter);
#if LIGHT_MAP
    light_uv = place;
    clear = transmittance;
#else
    ambient = baked_ambient * transmittance;
    sun = baked_sun * transmittance;
    visibility = baked_visibility;
#endif
    bedding_uv = vec2((position.x + position.y) * 0.006, position.z * 0.065 + (position.x - position.y) * 0.001);
    strata = baked_strata / STRATA_TOP;
    bedrock = 1.0 - clamp(traits.y * 1.3, 0.0, 1.0) * 0.8;
    steep = 1.0 - smoothstep(0.62, 0.86, normal.z);
    gl_Position = clip_from_world * vec4(position, 1.0);
}
