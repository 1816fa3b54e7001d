// Light and surface were worked out before: in a map of the land, to which near places add their grain, or at its vertices
// with one noise for their grain.
#include "shadow.glsl"

#if UNDER_VEHICLE
in vec3 p_vehicle;
#endif
#if LIGHT_MAP
in vec2 light_uv;
#if GRAIN
uniform vec2 grain_of;  // which of its two is shown
in vec2 grain_uv;
in float amount;
#endif
in vec3 clear;
#else
in vec3 ambient;
in vec3 sun;
in float visibility;
in float strata;
in float bedrock;
in vec2 level_uv;
#endif
in vec3 inscatter;
out vec4 colour;

#if LIGHT_MAP
uniform sampler2D light_map, grain_map;
#else
#include "noise_map.glsl"
uniform sampler2D band_map;
#endif

#if UNDER_VEHICLE == 1
float sun_past(vec3 s) { return sun_past_casters(s, 0.0, shadow_texel.w); }
#elif UNDER_VEHICLE
float sun_past(vec3 s) { return sun_past_vehicles(s); }
#endif

void main() {
#if LIGHT_MAP
    vec4 root = texture(light_map, light_uv);
    vec3 radiance = root.rgb * root.rgb * clear;
#if GRAIN
    float grain = dot(texture(grain_map, grain_uv).rg, grain_of);
    radiance *= 1.0 + saturate(amount) * (grain * (255.0 / 128.0) - 1.0);
#endif
#if UNDER_VEHICLE
    radiance *= 1.0 - root.a * (1.0 - sun_past(p_vehicle));
#endif
#else
    float lit = visibility;
#if UNDER_VEHICLE
    lit = min(lit, sun_past(p_vehicle));
#endif
    vec2 grain = texture(noise_map, level_uv).rg;
    vec3 bands = mix(vec3(1.0), texture(band_map, vec2(strata, 0.5)).rgb, bedrock);
    vec3 radiance = (ambient + sun * lit) * bands * (0.44 + 0.72 * grain.r + 0.40 * grain.g);
#endif
    colour = vec4(radiance + inscatter, 1.0);  // nobody asks how far it is
}
