// Asphalt, slabs, paint, kerbs, cones, concrete, steel, wood and soil: one material each, chosen by kind.
#include "surface.glsl"
#include "shadow.glsl"
#include "gravel.glsl"
#if FULL_MATERIALS
#include "caustics.glsl"
#endif

in vec3 p_w;
#ifndef PAVED
in vec3 n_w;
#endif
in vec2 on_face;
#ifdef KIND  // software GL works out what every kind looks like and keeps one: a program has one to choose from
const int kind = KIND;
#else
flat in int kind;
#endif
#if FULL_MATERIALS
in float open_sky;
in float lamps;
#else
in vec3 ambient;
#endif
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

#include "prop_ambient.glsl"

const vec3 SAND = vec3(0.40, 0.315, 0.215), TAR = vec3(0.060, 0.058, 0.056), CEMENT = vec3(0.33, 0.31, 0.285);

float below(float edge, float value) {
    float width = max(fwidth(value), 1e-4);
    return saturate(0.5 + (edge - value) / width);
}

// Share of a pixel that a line of this half width covers, its middle so far away.
float line(float half_width, float away) {
    float width = max(fwidth(away), 1e-4);
    return saturate(0.5 + (half_width - away) / width) * min(2.0 * half_width / width, 1.0);
}

vec3 asphalt(vec4 grain, vec4 stain, float stones) {
    vec3 tone = TAR * (0.92 + 0.20 * stain.r + 0.16 * grain.r) * (1.0 + 1.7 * stones);
    tone += vec3(0.06, 0.056, 0.05) * smoothstep(0.18, 0.36, stones);
    float dust = smoothstep(0.48, 0.84, stain.g * 0.65 + grain.r * 0.35) * 0.10;
    return mix(tone, SAND * 0.75, dust);
}

// No two slabs are of quite the same casting; dirt gathers along their joints.
vec3 slabs(vec4 grain, vec4 stain, float stones) {
    const float SIZE = 2.0;
    vec2 cell = floor(p_w.xy / SIZE), within = abs(fract(p_w.xy / SIZE) - 0.5) * SIZE;
    float tint = fract(sin(dot(cell, vec2(12.9898, 78.233))) * 43758.5453);
    float warmth = fract(tint * 71.7);
    vec3 tone = CEMENT * (0.84 + 0.20 * tint) * (0.80 + 0.22 * grain.r + 0.20 * stain.r) * (1.0 + 0.34 * stones);
    tone *= mix(vec3(1.0), vec3(1.03, 1.0, 0.95), warmth);
    float joint = 0.5 * SIZE - max(within.x, within.y);
    float grime = smoothstep(0.22, 0.0, joint - 0.16 * grain.g) * (0.35 + 0.65 * smoothstep(0.42, 0.6, stain.a));
    tone *= 1.0 - 0.20 * grime;
    return mix(tone, mix(tone, SAND * 0.9, 0.25) * 0.34, line(0.012, joint));
}

vec3 concrete(vec3 n, vec4 grain, vec4 stain) {
    vec3 tone = CEMENT * 0.92 * (0.70 + 0.35 * grain.r + 0.25 * stain.r);
    float wall = 1.0 - smoothstep(0.3, 0.7, abs(n.z));
    // What rain has washed down, and the joints of the boards it was cast between.
    float along = p_w.x + 0.87 * p_w.y;
    float streak = 0.55 * texture(noise_map, vec2(along * 0.047, p_w.z * 0.011)).g
        + 0.45 * texture(noise_map, vec2(along * 0.29, p_w.z * 0.013)).g;
    tone *= 1.0 - 0.34 * wall * smoothstep(0.48, 0.74, streak);
    float joint = (0.5 - abs(fract(on_face.x / 2.4) - 0.5)) * 2.4;
    tone *= 1.0 - 0.30 * wall * line(0.010, joint);
    return mix(tone, SAND * 0.7, wall * 0.35 * smoothstep(0.35, 0.0, p_w.z));
}

#ifdef ROOM
// Power-floated concrete of long use: saw cuts every bay, hairline cracks, oil, and where many have walked.
vec3 floor_slab(vec4 grain, vec4 stain, out float shine) {
    const float BAY = 6.0;
    vec2 within = abs(fract((p_w.xy + 3.0) / BAY) - 0.5) * BAY;
    vec2 cell = floor((p_w.xy + 3.0) / BAY);
    float pour = fract(sin(dot(cell, vec2(12.9898, 78.233))) * 43758.5453);
#if FULL_MATERIALS
    vec4 broad = texture(noise_map, p_w.xy * 0.0113 + 0.61), fine = texture(noise_map, p_w.xy * 0.17);
#else
    vec4 broad = stain, fine = grain;  // a look-up is dear there
#endif
    vec3 tone = vec3(0.255, 0.25, 0.238) * (0.86 + 0.12 * pour) * (0.74 + 0.30 * stain.r + 0.26 * broad.r + 0.08 * grain.r);
    float worn = smoothstep(0.42, 0.62, broad.g * 0.6 + stain.g * 0.4);
    tone *= mix(vec3(1.0), vec3(1.13, 1.12, 1.10), worn);
    float oil = smoothstep(0.56, 0.80, fine.a * 0.35 + stain.a * 0.65);
    tone *= 1.0 - 0.34 * oil;
#if FULL_MATERIALS
    float crack = abs(fine.b - 0.5) + 0.30 * smoothstep(0.45, 0.6, broad.b);
    tone *= 1.0 - 0.35 * line(0.010, crack);
#endif
    float joint = 0.5 * BAY - max(within.x, within.y);
    tone *= 1.0 - 0.16 * smoothstep(0.25, 0.0, joint) * stain.b;
    shine = 0.55 + 0.45 * worn - 0.25 * grain.r;
    return mix(tone, vec3(0.035), line(0.006, joint));
}

// Whitewashed brick over a dado of green oil paint.
vec3 wall_paint(vec4 grain, vec4 stain) {
    const vec2 BRICK = vec2(0.25, 0.083);
    vec2 at = on_face / BRICK;
    float row = floor(at.y);
    at.x += 0.5 * mod(row, 2.0);
    vec2 joint = (0.5 - abs(fract(at) - 0.5)) * BRICK;
    float tint = fract(sin(dot(vec2(floor(at.x), row), vec2(12.9898, 78.233))) * 43758.5453);
    float seam = max(line(0.006, joint.x), line(0.006, joint.y));
    float dado = below(1.45, p_w.z);
    vec3 wash = vec3(0.60, 0.585, 0.545) * (0.84 + 0.10 * tint + 0.16 * stain.r);
    vec3 bare = mix(vec3(0.36, 0.20, 0.14), vec3(0.27, 0.15, 0.11), tint);
    float peeled = smoothstep(0.60, 0.70, stain.a * 0.5 + grain.g * 0.25 + 0.25 * stain.r);
    vec3 tone = mix(wash, bare, 0.75 * peeled * (1.0 - dado));
    tone = mix(tone, vec3(0.16, 0.22, 0.195) * (0.85 + 0.3 * stain.r), dado);
    tone *= 1.0 - 0.5 * line(0.012, abs(p_w.z - 1.45));
#if FULL_MATERIALS
    float soot = smoothstep(0.50, 0.78, texture(noise_map, vec2(on_face.x * 0.09, on_face.y * 0.014)).g);
    tone *= 1.0 - 0.22 * soot * smoothstep(1.0, 6.0, p_w.z);
#endif
    return tone * (1.0 - 0.32 * seam) * mix(0.72, 1.0, smoothstep(0.0, 0.30, p_w.z + 0.1 * grain.g));
}

// Rippled glass in bars of steel, with years of dust in its corners: how much of the light outside comes through.
float glazing() {
    const vec2 SHEET = vec2(0.84, 0.825);
    vec2 away = (0.5 - abs(fract(on_face / SHEET) - 0.5)) * SHEET;
    vec2 cell = floor(on_face / SHEET);
    float tint = fract(sin(dot(cell + floor(p_w.xy * 0.2), vec2(41.3, 17.7))) * 43758.5453);
    float dust = smoothstep(0.0, 0.16, min(away.x, away.y));
    return (0.78 + 0.22 * tint) * mix(0.72, 1.0, dust) * (1.0 - 0.94 * max(line(0.02, away.x), line(0.02, away.y)));
}

// Enamel that has been knocked off at edges and scratched.
vec3 enamel(vec3 paint, vec4 grain, vec4 stain) {
    float chipped = smoothstep(0.66, 0.72, grain.a * 0.6 + stain.g * 0.4);
    return mix(paint * (0.82 + 0.24 * grain.r + 0.10 * stain.r), vec3(0.10, 0.095, 0.09), 0.7 * chipped);
}
#endif

vec3 cone(vec3 n, float height) {
    float band = below(0.62, height) * (1.0 - below(0.40, height)) + (1.0 - below(0.78, height)) * below(0.88, height);
    vec3 tone = mix(vec3(0.78, 0.115, 0.014), vec3(0.78, 0.77, 0.74), saturate(band));
    return n.z > 0.95 || p_w.z < 0.036 ? vec3(0.035, 0.034, 0.034) : tone;
}

#if defined(PAVED) && !FULL_MATERIALS
uniform sampler2D level_sun_map;
uniform vec4 level_place;  // low corner and extent
#endif

// What still things leave of the sun.
float past_still(vec3 n) {
#if defined(PAVED) && !FULL_MATERIALS
    return texture(level_sun_map, (p_w.xy - level_place.xy) / level_place.zw).r;
#else
    return canyon_sun(p_w + n * PROP_LIFT_M);
#endif
}

void main() {
    if (clipped(p_w)) discard;
#ifdef PAVED  // level
    const vec3 n = vec3(0.0, 0.0, 1.0);
#else
    vec3 n = normalize(n_w);
#endif
    if (kind == LINING && dot(n, eye.xyz - p_w) < 0.0) discard;  // seen from outside it is cut away
    vec2 flat_uv = abs(n.z) > 0.6 ? p_w.xy : vec2(p_w.x + p_w.y, p_w.z);
    vec4 grain = texture(noise_map, flat_uv * 0.43), stain = texture(noise_map, flat_uv * 0.031 + 0.3);
    float distance_m = distance(p_w, eye.xyz);
#if defined(ROOM) && !FULL_MATERIALS
    const float stones = 0.0;
#else
    float stones = gravel(flat_uv);
#endif
    float gloss = 0.0, roughness = 0.6;
    vec3 albedo;
    if (kind == ASPHALT) {
        // The edge has crumbled, and sand lies on it.
        float rim = on_face.y - 0.42 * stain.a - 0.22 * grain.g;
        if (rim < -0.12) discard;
        albedo = mix(SAND * (0.8 + 0.4 * grain.r), asphalt(grain, stain, stones), smoothstep(-0.1, 0.55, rim));
        gloss = 0.5;
    } else if (kind == SLABS) {
        albedo = slabs(grain, stain, stones);
    } else if (kind == WHITE || kind == YELLOW) {
        vec3 paint = kind == WHITE ? vec3(0.66, 0.65, 0.61) : vec3(0.66, 0.42, 0.06);
        float worn = smoothstep(0.60, 0.40, grain.g * 0.6 + stain.a * 0.4);
#ifdef ROOM
        const vec3 UNDER = vec3(0.17);
#else
        const vec3 UNDER = TAR * 1.8;
#endif
        albedo = mix(UNDER, paint * (0.85 + 0.3 * grain.r), 0.30 + 0.62 * worn) * (1.0 + 0.35 * stones);
        gloss = 0.5;
    } else if (kind == KERB) {
        float red = below(0.25, abs(fract(on_face.x / 2.4) - 0.5));
        albedo = mix(vec3(0.62, 0.60, 0.56), vec3(0.46, 0.045, 0.03), red) * (0.70 + 0.5 * grain.r);
        albedo = mix(albedo, TAR, 0.35 * smoothstep(0.45, 0.65, stain.g));
    } else if (kind == CONE) {
        albedo = cone(n, on_face.y) * (0.9 + 0.2 * grain.r);
        gloss = 1.0;
        roughness = 0.45;
    } else if (kind == CONCRETE || kind == LINING) {
        albedo = concrete(n, grain, stain) * (1.0 + 0.28 * stones);
#ifdef ROOM
    } else if (kind == FLOOR) {
        albedo = floor_slab(grain, stain, gloss);
        roughness = 0.42;
    } else if (kind == WALL) {
        albedo = wall_paint(grain, stain);
    } else if (kind == ROOF) {
        float board = 0.5 - abs(fract(p_w.x / 0.4) - 0.5);
        albedo = vec3(0.42, 0.42, 0.405) * (0.75 + 0.3 * stain.r) * (1.0 - 0.3 * line(0.02, board));
    } else if (kind == PANE) {
        albedo = vec3(0.0);
    } else if (kind == IRON) {
        albedo = vec3(0.045, 0.045, 0.048) * (0.8 + 0.5 * grain.r);
        gloss = 0.35;
        roughness = 0.5;
    } else if (kind == MACHINE) {
        albedo = enamel(vec3(0.125, 0.185, 0.165), grain, stain);
        gloss = 0.9;
        roughness = 0.38;
    } else if (kind == CRANE) {
        albedo = enamel(vec3(0.62, 0.36, 0.02), grain, stain);
        gloss = 0.9;
        roughness = 0.38;
#endif
    } else if (kind == LAMP) {
        albedo = vec3(0.7);
    } else if (kind == STEEL) {
        albedo = vec3(0.10);
        gloss = 1.0;
        roughness = 0.3;
    } else if (kind == WOOD) {
        float plank = fract(on_face.y / 0.13 + 0.5);
        float fibre = texture(noise_map, on_face * vec2(0.12, 2.3)).r;
        // Gaps that are finer than a pixel darken all of it evenly.
        float gap = mix(smoothstep(0.0, 0.10, min(plank, 1.0 - plank)), 0.9, saturate(45.0 * fwidth(on_face.y) - 0.4));
        albedo = vec3(0.27, 0.185, 0.12) * (0.55 + 0.8 * fibre) * (0.35 + 0.65 * gap);
    } else {
        albedo = mix(vec3(0.13, 0.09, 0.06), vec3(0.10, 0.12, 0.045), smoothstep(0.45, 0.6, stain.b * 0.4 + grain.r * 0.6)) * (0.6 + 0.8 * grain.g);
    }

    vec3 rough_n = normalize(n + vec3(grain.r - 0.5 + stones, grain.g - 0.5 - stones, 0.0) * 0.16);
    float sun = saturate(dot(rough_n, sun_direction.xyz));
    if (sun > 0.0) {
        float reached = past_still(n);
#if UNDER_VEHICLE == 2
        reached = min(reached, vehicle_sun(p_w + n * 0.03));
#elif UNDER_VEHICLE
        reached = min(reached, casters_sun(p_w + n * 0.03));
#endif
        sun *= reached;
    }
#if FULL_MATERIALS
    if (p_w.z < water.x) sun *= caustics(p_w, water.x, CAUSTIC_SHARP_M);
#endif
#if FULL_MATERIALS
#ifdef ROOM
    vec3 ambient = room_ambient(open_sky);
#else
    vec3 ambient = prop_ambient(n, open_sky, lamps, kind == ASPHALT);
#endif
    if (kind == LAMP) ambient += lamp_light(n, lamps > 0.0);
#endif
    vec3 radiance = albedo / PI * (sun_irradiance.rgb * sun + ambient);
#ifdef ROOM
    if (kind == PANE) radiance = ambient / PI * glazing();
#endif
#if FULL_MATERIALS
    if (gloss > 0.0) {
        vec3 v = normalize(eye.xyz - p_w);
        float facing = saturate(dot(rough_n, v));
        float fresnel = 0.04 + 0.5 * pow(1.0 - facing, 5.0) * (1.0 - roughness);
        if (sun > 0.0) radiance += gloss * sun_irradiance.rgb * sun * ggx(rough_n, v, sun_direction.xyz, 0.04, roughness * roughness) / max(dot(rough_n, sun_direction.xyz), 0.05);
#ifdef ROOM
        float seen = saturate(open_sky / max(dot(sky_harmonics[0].rgb, vec3(0.2126, 0.7152, 0.0722)), 1e-6));
        float mirrors = kind == STEEL ? 0.45 : (kind == FLOOR ? 0.55 * fresnel : fresnel);
        radiance += gloss * mirrors * seen * environment_at(p_w, reflect(-v, rough_n), roughness);
#else
        radiance += gloss * (kind == STEEL ? 0.45 : fresnel * 0.4) * open_sky * environment(reflect(-v, rough_n), roughness);
#endif
    }
#endif
    colour = vec4(radiance * transmittance + inscatter, distance_m);
}
