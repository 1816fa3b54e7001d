// Reflection of sun and surroundings for glossy surfaces.
#include "sky.glsl"

const vec3 ROCK_SEEN = vec3(0.219, 0.147, 0.103);  // mean albedo of the land below the horizon
const vec3 ROCK_BOUNCE = vec3(0.34, 0.20, 0.12);  // colour of light that the walls return

// Light that the land sends back to what stands on it; what a room or a planet does is in the harmonics.
vec3 land_light() { return sun_irradiance.rgb * ROCK_BOUNCE * (1.0 - room.w - orbit.z); }

// GGX specular times n.l, clipped so that the sun's glint stays a glint.
float ggx(vec3 n, vec3 v, vec3 l, float f0, float alpha) {
    vec3 h = normalize(v + l);
    float nl = saturate(dot(n, l)), nv = saturate(dot(n, v)) + 1e-3, nh = saturate(dot(n, h));
    float a2 = alpha * alpha;
    float t = nh * nh * (a2 - 1.0) + 1.0;
    float off = 1.0 - saturate(dot(h, v)), off2 = off * off;
    float fresnel = f0 + (1.0 - f0) * off2 * off2 * off;
    float k = alpha * 0.5;
    float visible = 1.0 / ((nl * (1.0 - k) + k) * (nv * (1.0 - k) + k));
    return min(a2 / (PI * t * t) * fresnel * visible * 0.25 * nl, 60.0);
}

// What a glossy surface sees along r: sky above, rock below, the seam softened by roughness.
vec3 environment(vec3 r, float roughness) {
    bool all_round = room.w + orbit.z > 0.0;
    vec3 up = sky_radiance(all_round ? r : normalize(vec3(r.xy, max(r.z, 0.02))));  // in one place: software GL works out both
    if (all_round) return up;
    float edge = 0.05 + 0.4 * roughness;
    vec3 land = ROCK_SEEN / PI * (sun_irradiance.rgb * max(sun_direction.z, 0.0) + sky_harmonics[0].rgb);
    return mix(land, up, smoothstep(-edge, edge, r.z));
}

// The same at a place in a room: the table has it as it is seen from the middle.
const float ROOM_EYE_M = 2.0;
vec3 environment_at(vec3 p, vec3 r, float roughness) {
    if (room.w == 0.0) return environment(r, roughness);
    vec3 inverse = 1.0 / (r + vec3(1e-5));
    vec3 ends = max((vec3(-room.xy, 0.0) - p) * inverse, (room.xyz - p) * inverse);
    float reach = max(min(ends.x, min(ends.y, ends.z)), 0.0);
    return sky_radiance(normalize(p + r * reach - vec3(0.0, 0.0, ROOM_EYE_M)));
}
