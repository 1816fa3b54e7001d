// The sky as light: radiance by direction, irradiance by normal, and the haze in front of things.
#include "frame.glsl"

uniform sampler2D sky_lut;

#ifndef EYE_UNDER  // whether the eye is in the water: a program may know it beforehand
#define EYE_UNDER (water.w > 0.0)
#endif

vec2 sky_coordinates(vec3 d) {
    float over = asin(clamp(d.z, -1.0, 1.0)) - orbit.y;
    float v = 0.5 + 0.5 * sign(over) * sqrt(abs(over) / (PI * 0.5 - sign(over) * orbit.y));
    return vec2(atan(d.y, d.x) / (2.0 * PI), v);
}

vec3 sky_radiance(vec3 d) { return textureLod(sky_lut, sky_coordinates(d), 0.0).rgb; }

vec3 sky_irradiance(vec3 n) {
    vec3 e = sky_harmonics[0].rgb + sky_harmonics[1].rgb * n.y + sky_harmonics[2].rgb * n.z + sky_harmonics[3].rgb * n.x
        + sky_harmonics[4].rgb * (n.x * n.y) + sky_harmonics[5].rgb * (n.y * n.z)
        + sky_harmonics[6].rgb * (3.0 * n.z * n.z - 1.0) + sky_harmonics[7].rgb * (n.x * n.z)
        + sky_harmonics[8].rgb * (n.x * n.x - n.y * n.y);
    return max(e, vec3(0.0));
}

const vec3 WATER_ABSORPTION = vec3(0.50, 0.15, 0.12);   // per m
const vec3 WATER_SCATTERS = vec3(0.009, 0.062, 0.076);  // share of the light that deep water sends back

// What water without end sends to an eye in it: less and bluer the deeper it is and the further down it looks, most of
// it from about the sun as it is refracted.
vec3 deep_water(vec3 ray) {
    vec3 light = sky_irradiance(vec3(0.0, 0.0, 1.0)) + sun_irradiance.rgb * max(sun_direction.z, 0.0);
    vec2 level = sun_direction.xy / 1.333;
    float towards = dot(ray, vec3(level, sqrt(1.0 - dot(level, level))));
    float near = 0.5 + 0.5 * towards, near2 = near * near;
    float forward = 0.75 + 1.1 * near2 * near2 * near2;
    // One power for depth and tilt: software GL works this out for every eye.
    return WATER_SCATTERS * light * exp2(1.1 * ray.z - 0.505 * WATER_ABSORPTION * water.w) * forward;
}

// What is left of light between the eye and p.
vec3 transmittance_to(vec3 p) {
    vec3 way = p - eye.xyz;
    float distance_m = max(length(way), 1e-3);
    vec3 extinction = (vec3(5.8, 13.6, 33.1) * 1.5e-6 + vec3(1.0, 1.02, 1.08) * 2.2e-5) * haze.x;
    float rise = haze.y * way.z;
    float mean_density = abs(rise) > 1e-3 ? (1.0 - exp(-rise)) / rise : 1.0;
    mean_density *= exp(-haze.y * max(eye.z - haze.z, 0.0));
    vec3 lost = extinction * clamp(mean_density, 0.0, 4.0);
    if (EYE_UNDER) lost = 0.55 * WATER_ABSORPTION;
    return exp(-distance_m * lost);
}

// Transmittance and inscattered light between the eye and p; the far end melts into the sky at the horizon.
void haze_to(vec3 p, out vec3 transmittance, out vec3 inscatter) {
    vec3 ray = normalize(p - eye.xyz);
    transmittance = transmittance_to(p);
    if (EYE_UNDER) {
        inscatter = deep_water(ray) * (1.0 - transmittance);
        return;
    }
    vec3 direction = normalize(vec3(ray.xy, max(ray.z, 0.0) + 0.035));
    inscatter = sky_radiance(direction) * (1.0 - transmittance) * mix(0.85, 1.0, orbit.w);
}

vec3 through_haze(vec3 colour, vec3 p) {
    vec3 transmittance, inscatter;
    haze_to(p, transmittance, inscatter);
    return colour * transmittance + inscatter;
}
