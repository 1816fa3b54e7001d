// How much of the sun reaches a point: the canyon's own map, then the map around the vehicles.
#include "frame.glsl"
#include "clouds.glsl"

uniform sampler2DShadow sun_shadow_map, vehicle_shadow_map;

const vec2 DISC[8] = vec2[](vec2(-0.33, -0.15), vec2(0.62, -0.28), vec2(-0.72, 0.38), vec2(0.18, 0.55),
                            vec2(-0.05, -0.86), vec2(0.80, 0.45), vec2(-0.30, 0.92), vec2(-0.88, -0.42));
// rad: penumbra of a caster at distance d is d * SUN_RADIUS wide to either side; a closed deck of clouds spreads the sun
const float SUN_RADIUS = 0.00465, SUN_RADIUS_PAST_DECK = 0.06;
#ifdef ROOM
const float PROP_LIFT_M = 0.02, LIFT_M = 0.02;
#elif FULL_MATERIALS
const float PROP_LIFT_M = 0.10, LIFT_M = 0.35;
#else
const float PROP_LIFT_M = 0.35, LIFT_M = 0.35;
#endif
const float CLOSEST_M = 0.01, CLOSEST_TEXELS = 4.0;

// Of light that is kept: the sun's disc blurred over `radius` texels of its map.
float sun_around(vec3 p, float radius) {
    vec3 s = (sun_shadow * vec4(p, 1.0)).xyz;
    if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
    float lit = 0.0;
    for (int i = 0; i < 8; i++)
        lit += textureLod(sun_shadow_map, vec3(s.xy + DISC[i] * shadow_texel.xy * radius, s.z - water.y), 0.0);
    return lit / 8.0;
}

#ifndef BAKE
#if SHADOW_TAPS > 1 || defined(ROTATED)
// A rotation that differs from pixel to pixel with little low-frequency content (interleaved gradient noise).
mat2 pixel_rotation() {
    float angle = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715)))) * 2.0 * PI;
    float c = cos(angle), s = sin(angle);
    return mat2(c, s, -s, c);
}
#endif

float canyon_sun(vec3 p) {
    vec3 s = (sun_shadow * vec4(p, 1.0)).xyz;
#if FULL_MATERIALS
    float past_clouds = sun_past_clouds(p);
#else
    const float past_clouds = 1.0;
#endif
    if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return past_clouds;
#if SHADOW_TAPS == 1 && defined(ROOM)
    // A roof's beams run along the map: where they cross what is near, a texel is seen as a step.
    vec2 slant = shadow_texel.xy * vec2(0.45, 1.1);
    float lit = texture(sun_shadow_map, vec3(s.xy + slant, s.z - water.y));
    lit += texture(sun_shadow_map, vec3(s.xy - slant, s.z - water.y));
    slant = shadow_texel.xy * vec2(1.1, -0.45);
    lit += texture(sun_shadow_map, vec3(s.xy + slant, s.z - water.y));
    lit += texture(sun_shadow_map, vec3(s.xy - slant, s.z - water.y));
    return 0.25 * lit * past_clouds;
#elif SHADOW_TAPS == 1
    return texture(sun_shadow_map, vec3(s.xy, s.z - water.y)) * past_clouds;
#else
    mat2 turn = pixel_rotation();
    float lit = 0.0;
    for (int i = 0; i < SHADOW_TAPS; i++)
        lit += texture(sun_shadow_map, vec3(s.xy + turn * DISC[i] * shadow_texel.xy * 2.2, s.z - water.y));
    return lit / float(SHADOW_TAPS) * past_clouds;
#endif
}

// What is nearer to a caster than this is not in its shadow: no more than the map's own coarseness asks for.
float nearer_than_casters(vec3 s, float span_m) {
    return s.z - (CLOSEST_M + CLOSEST_TEXELS * shadow_texel.z * span_m) / water.z;
}

// Half width of the penumbra at a point of a map, in its units.
float penumbra(vec3 s, float span_m) {
    float sun_radius = mix(SUN_RADIUS, SUN_RADIUS_PAST_DECK, smoothstep(0.5, 1.0, sun_direction.w));
    return max(shadow_texel.z * 2.0, max(s.z - 0.5, 0.0) * water.z * sun_radius / span_m);
}

// s: a point in one of the two maps that share a texture; side: where its half begins; span_m: its width.
float sun_past_casters(vec3 s, float side, float span_m) {
    if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
    float depth = nearer_than_casters(s, span_m);
#if SHADOW_TAPS == 1
    return texture(vehicle_shadow_map, vec3(side + 0.5 * s.x, s.y, depth));
#else
    mat2 turn = pixel_rotation();
    float radius = penumbra(s, span_m);
    float lit = 0.0;
    for (int i = 0; i < SHADOW_TAPS; i++) {
        vec2 at = clamp(s.xy + turn * DISC[i] * radius, shadow_texel.zz, 1.0 - shadow_texel.zz);
        lit += texture(vehicle_shadow_map, vec3(side + 0.5 * at.x, at.y, depth));
    }
    return lit / float(SHADOW_TAPS);
#endif
}

// s: a point in the map around the vehicles. What stands about has a wider one, from the same direction.
float sun_past_vehicles(vec3 s) {
    float sun = sun_past_casters(s, 0.0, shadow_texel.w);
    if (still_shadow.x <= 0.0) return sun;
    vec3 still = vec3(s.xy * still_shadow.x, s.z) + still_shadow.yzw;
    return min(sun, sun_past_casters(still, 0.5, shadow_texel.w / still_shadow.x));
}

float vehicle_sun(vec3 p) {
    if (shadow_texel.w <= 0.0) return 1.0;
    return sun_past_vehicles((vehicle_shadow * vec4(p, 1.0)).xyz);
}

// The same where nothing stands about.
float casters_sun(vec3 p) {
    if (shadow_texel.w <= 0.0) return 1.0;
    return sun_past_casters((vehicle_shadow * vec4(p, 1.0)).xyz, 0.0, shadow_texel.w);
}

// 0 in shadow, 1 in the sun. `n` is the geometric normal: it lifts the point off its own surface.
float sun_visibility(vec3 p, vec3 n) {
    return min(canyon_sun(p + n * LIFT_M), vehicle_sun(p + n * 0.03));
}
#endif
