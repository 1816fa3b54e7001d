// One noise fetch for grain, one for the bands of the strata, one or two for light; everything else came with the vertices.
#include "shadow.glsl"

in vec3 p_w;
in vec3 p_sun;
in vec3 p_vehicle;
#if LIGHT_MAP
in vec2 light_uv;
in vec3 clear;
#else
in vec3 ambient;
in vec3 sun;
in float visibility;
#endif
in vec3 inscatter;
in vec2 bedding_uv;
in float steep;
in float strata;
in float bedrock;
out vec4 colour;

uniform sampler2D noise_map, band_map;
#if LIGHT_MAP
uniform sampler2D light_map;
uniform float light_scale;
#endif

void main() {
    // Derivatives of either way to lay the noise: those across their border would ask for the coarsest level there.
    vec2 level_uv = p_w.xy * 0.024;
    vec4 bedding_step = vec4(dFdx(bedding_uv), dFdy(bedding_uv)), level_step = vec4(dFdx(level_uv), dFdy(level_uv));
    bool wall = steep > 0.5;
    vec4 uv_step = wall ? bedding_step : level_step;
    vec2 grain = textureGrad(noise_map, wall ? bedding_uv : level_uv, uv_step.xy, uv_step.zw).rg;
    vec3 bands = mix(vec3(1.0), texture(band_map, vec2(strata, 0.5)).rgb, bedrock);
#if LIGHT_MAP
    vec4 root = texture(light_map, light_uv, -0.8);  // its texels are longer one way than the other
    vec3 radiance = root.rgb * root.rgb * light_scale * clear;
#if UNDER_VEHICLE
    radiance *= 1.0 - root.a * (1.0 - sun_past_vehicles(p_vehicle));
#endif
#else
#if SUN_BY_PIXEL
    float lit = texture(sun_shadow_map, vec3(p_sun.xy, p_sun.z - water.y));
#else
    float lit = visibility;
#endif
#if UNDER_VEHICLE
    lit = min(lit, sun_past_vehicles(p_vehicle));
#endif
    vec3 radiance = ambient + sun * lit;
#endif
    float relief = 0.44 + 0.72 * grain.r + 0.40 * grain.g;
    colour = vec4(radiance * bands * relief + inscatter, distance(p_w, eye.xyz));
}
