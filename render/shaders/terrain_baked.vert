// Terrain whose light was worked out before; haze per vertex too.
#include "sky.glsl"
#include "strata.glsl"
#include "grain.glsl"

in vec3 position;
#if LIGHT_MAP
in vec2 place;
in float upward;  // part of the normal, in the mean of some metres
uniform float light_scale;  // radiance of a full texel
out vec2 light_uv;
#if GRAIN
uniform bool bedded;       // whether triangles show bedding, or else the grain of level ground
out vec2 grain_uv;
out float amount;  // of the grain: none is left where triangles of the one and the other meet
#endif
out vec3 clear;  // transmittance of the haze, times the scale
#else
in vec4 traits;
in vec3 baked_ambient;
in vec3 baked_sun;
in float baked_visibility;
in float baked_strata;
out vec3 ambient;
out vec3 sun;
out float visibility;
out float strata;   // coordinate in the band map
out float bedrock;  // share of rock that is not covered
#endif

#if !LIGHT_MAP
out vec2 level_uv;
#endif
out vec3 p_vehicle;  // in the shadow map of the vehicles
out vec3 inscatter;

void main() {
    p_vehicle = (vehicle_shadow * vec4(position, 1.0)).xyz;
    vec3 transmittance;
    haze_to(position, transmittance, inscatter);
#if LIGHT_MAP
    light_uv = place.yx;
#if GRAIN
    grain_uv = bedded ? on_bedding(position) : on_level(position);
    amount = (bedded ? 4.0 : -4.0) * (walled(upward) - 0.5);
#endif
    clear = transmittance * light_scale;
#else
    ambient = baked_ambient * transmittance;
    sun = baked_sun * transmittance;
    visibility = baked_visibility;
    strata = baked_strata / STRATA_TOP;
    level_uv = position.xy * 0.024;
    bedrock = 1.0 - clamp(traits.y * 1.3, 0.0, 1.0) * 0.8;
#endif
    gl_Position = clip_from_world * vec4(position, 1.0);
}
