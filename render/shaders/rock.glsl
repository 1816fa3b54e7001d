// Canyon rock from position, normal and what the terrain knows of itself: strata, bedding, varnish, talus, sand.
// BAKE evaluates it at vertices (explicit noise level by vertex spacing); else per pixel.
#include "surface.glsl"

#include "strata.glsl"

#include "noise_map.glsl"
uniform sampler2D strata_map;

#ifdef BAKE
uniform float spacing_m;
vec4 noise(vec2 uv, float per_m) { return textureLod(noise_map, uv, max(log2(spacing_m * per_m * 512.0), 0.0)); }
vec3 strata(float height) { return textureLod(strata_map, vec2(height / STRATA_TOP, 0.5), 5.0).rgb; }
#else
// A coarser level than the pixel asks for: the bump takes differences between neighbouring pixels.
const float RELIEF_BIAS = 0.9;
vec4 noise(vec2 uv, float per_m) { return texture(noise_map, uv, RELIEF_BIAS); }
vec3 strata(float height) { return texture(strata_map, vec2(height / STRATA_TOP, 0.5)).rgb; }
#endif

struct Traits {
    float sky;      // share of the sky that is seen, 0..1
    float loose;    // talus, sand, sediment, 0..1
    float hollow;   // 0 ridge .. 1 hollow
};

struct Grain {  // noise that albedo and relief share
    vec4 low, broad, fine;
    float bed, thin_bed;    // bedding planes: noise stretched 15:1 along the strata
    float height;           // in the strata, warped
    float steep, loose;
};

vec4 triplanar(vec3 p, vec3 weight, float per_m) {
    return noise(p.xz * per_m, per_m) * weight.y + noise(p.yx * per_m, per_m) * weight.z
        + noise(p.yz * per_m, per_m) * weight.x;
}

vec3 triplanar_weight(vec3 n) {
    vec3 w = pow(abs(n), vec3(4.0));
    return w / (w.x + w.y + w.z);
}

Grain rock_grain(vec3 p, vec3 n, Traits traits) {
    Grain g;
    vec3 weight = triplanar_weight(n);
    g.low = noise(p.yx * 0.0045, 0.0045);
    g.broad = triplanar(p, weight, 0.035);
    g.fine = triplanar(p, weight, 0.19);
    g.steep = 1.0 - smoothstep(0.62, 0.86, n.z);
    g.height = p.z + (g.low.r - 0.5) * 5.0 + p.y * 0.012 + (g.broad.r - 0.5) * 1.4;
    g.bed = noise(vec2((p.x + p.y) * 0.0028 + g.low.g * 0.05, g.height * 0.042), 0.042).r;
    g.thin_bed = noise(vec2((p.y - p.x) * 0.006, g.height * 0.16), 0.16).g;
    g.loose = saturate(traits.loose * 1.3 + smoothstep(0.5, 0.8, n.z) * 0.5 * smoothstep(0.45, 0.6, g.broad.r));
    return g;
}

// Height above the mesh in metres, for the bump.
float rock_relief(Grain g) {
    float bare = (g.broad.r - 0.5) * 2.6 + (g.fine.r - 0.5) * 0.55 + (g.fine.b - 0.5) * 0.10;
    float strewn = bare * 0.55 + (g.fine.a - 0.5) * 0.35;
    float beds = (g.bed - 0.5) * 3.0 + (g.thin_bed - 0.5);
    return mix(bare, strewn, g.loose * (1.0 - g.steep)) + g.steep * (1.0 - 0.8 * g.loose) * beds;
}

#ifndef BAKE
const float STEEPEST = 1.1;  // slope of the bump

// Mikkelsen's bump from screen derivatives: needs no tangents. Faces seen edge-on are narrower than the pixels that the
// derivatives span: there differences are between things far apart, and `share` fades the bump out.
vec3 bumped(vec3 p, vec3 n, float relief, float share) {
    vec3 dx = dFdx(p), dy = dFdy(p);
    vec3 r1 = cross(dy, n), r2 = cross(n, dx);
    float det = dot(dx, r1);
    vec3 gradient = sign(det) * (dFdx(relief) * r1 + dFdy(relief) * r2);
    vec3 tilt = gradient / max(abs(det), 1e-9) * share;
    return normalize(n - tilt * min(1.0, STEEPEST / max(length(tilt), 1e-4)));
}
#endif

// Dark streaks of manganese that run down walls.
vec3 with_varnish(vec3 albedo, vec3 p, float steep) {
    float wide = noise(vec2((p.y * 0.9 + p.x) * 0.021, p.z * 0.0028), 0.021).r;
    float thin = noise(vec2((p.x * 0.9 - p.y) * 0.06, p.z * 0.006), 0.06).g;
    float cover = smoothstep(0.50, 0.68, wide * 0.65 + thin * 0.35) * steep;
    return mix(albedo, albedo * vec3(0.36, 0.33, 0.34) + 0.008, cover * 0.75);
}

vec3 rock_albedo(vec3 p, vec3 n, Grain g) {
    vec3 bedrock = strata(g.height);
    vec3 albedo = bedrock * (0.72 + 0.56 * g.bed) * mix(1.0, 0.80 + 0.4 * g.thin_bed, g.steep);
    albedo = mix(albedo, vec3(0.50, 0.40, 0.29), smoothstep(0.55, 0.75, g.thin_bed * 0.6 + g.bed * 0.4) * 0.28 * g.steep);
    albedo = with_varnish(albedo, p, g.steep);

    vec3 scree = mix(vec3(0.30, 0.195, 0.125), vec3(0.36, 0.25, 0.17), g.fine.a) * (0.75 + 0.5 * g.broad.g);
    scree = mix(scree, bedrock * 0.85, 0.45) * (0.72 + 0.56 * smoothstep(0.35, 0.7, g.fine.g * 0.6 + g.fine.a * 0.4));
    albedo = mix(albedo, scree, g.loose * (1.0 - g.steep * 0.8));

    float above_water = p.z - water.x;
    float flat_ground = smoothstep(0.80, 0.93, n.z);
    float bank = 1.0 - smoothstep(2.2, 5.5, above_water + (g.broad.r - 0.5) * 5.0);
    albedo = mix(albedo, vec3(0.44, 0.345, 0.235) * (0.85 + 0.3 * g.broad.r), bank * flat_ground);

    float cap = 0.05 * smoothstep(110.0, 150.0, p.z);
    float scrub = flat_ground * smoothstep(0.52, 0.66, g.broad.g * 0.5 + g.low.r * 0.5 + cap)
        * smoothstep(1.6, 3.5, above_water);
    albedo = mix(albedo, mix(vec3(0.085, 0.095, 0.035), vec3(0.17, 0.15, 0.065), g.fine.r), scrub * 0.75);

    float wet = 1.0 - smoothstep(0.05, 0.75, above_water + (g.fine.r - 0.5) * 0.5);
    return albedo * mix(1.0, 0.42, wet);
}

// Light that is not the sun's own: sky through the open share, and what sunlit walls return into the closed one.
vec3 rock_ambient(vec3 n, Traits traits, float relief) {
    float cavity = mix(1.0, saturate(0.45 + 1.1 * (0.5 + relief * 0.35)), 0.55);
    float open_sky = traits.sky * cavity * mix(1.1, 0.75, traits.hollow);
    vec3 bounce = land_light() * (0.075 + 0.24 * (1.0 - traits.sky)) * (1.0 - 0.3 * n.z);
    return sky_irradiance(n) * open_sky + bounce * cavity;
}
