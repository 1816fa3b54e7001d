// The sea: the slopes of its waves, those too fine to be seen as roughness, sky and sun in it, depth, foam and wakes.
#ifdef UNDER_WATER  // software GL works out every branch
#define EYE_UNDER (UNDER_WATER == 1)
#endif
#include "surface.glsl"
#include "sun_in_water.glsl"
#include "sea.glsl"

#if FULL_MATERIALS
#include "sea_hulls.glsl"
in vec3 p_w;
in vec2 rest;
in float rise;
in vec3 transmittance;
in vec3 inscatter;
#else
// Once a pixel, from what sea_place.frag has left there: a mesh of triangles not much larger than pixels is drawn first.
vec3 p_w, transmittance, inscatter;
vec2 rest;
float rise;
uniform sampler2D sea_place_map, sea_veil_map;
#endif
out vec4 colour;

uniform sampler2D sea_slope_0, sea_slope_1, sea_slope_2;
#include "noise_map.glsl"
uniform sampler2D sea_foam_map, sea_depth_map, slope_map;
#if MARKS
uniform sampler2D water_marks_map;
uniform vec3 marks_window;  // xy middle of the map of wakes, z 1 / its width
#endif
#if FULL_MATERIALS
uniform sampler2D opaque_map;
#endif
#if PLANAR_REFLECTION
uniform sampler2D reflection_map;
#endif

uniform vec2 sea_wind;    // where it goes to
uniform float sea_silt;   // of a river, 1: it carries what dims and browns it; 0: the open sea

const vec3 DEEP = vec3(0.0055, 0.024, 0.031);     // what deep water scatters back
const vec3 CREST = vec3(0.012, 0.105, 0.095);     // the same of thin water that the light comes through
const vec3 SILT = vec3(0.036, 0.052, 0.041) / PI; // what a river scatters back, deep or thin
const vec3 SILT_ABSORPTION = vec3(0.62, 0.26, 0.25);  // per m
const vec3 AERATED = vec3(0.05, 0.19, 0.18);      // the same of water full of bubbles
const vec3 BED = vec3(0.20, 0.155, 0.105);        // wet sand
const float FOAM_ALBEDO = 0.72;
const float SEEN_DOWN_M = 1.5, SILT_SEEN_DOWN_M = 0.5;  // mean depth from which light comes back
const float BENT = 0.5, SPREAD = 0.4;  // of that depth: by a slope, and by what scatters on both ways

#if !FULL_MATERIALS
// Level of a texture of so many texels to a tile, for pixels that cover this share of one. Neighbours in the picture may
// be of different waves: their differences tell nothing.
float tiled_level(float pixel, int texels) { return max(log2(pixel * float(texels)), 0.0); }
const float SIMPLY = 1.2;  // times a pixel that texels are, where levels are not mixed: finer waves would be grain
#endif

// Slope, what its square has lost on the way to this level, and the stretch.
vec4 slope_of(sampler2D map, float edge, float footprint) {
    vec4 s = textureLod(map, tile_uv(rest, edge), tile_level(footprint, edge));
    return vec4(s.xy, max(s.z - dot(s.xy, s.xy), 0.0), s.w);
}

// Slopes, foam and air of wakes; slopes that are finer than a pixel are levelled.
vec4 marks(float pixel_m) {
#if MARKS
    vec2 uv = (p_w.xy - marks_window.xy) * marks_window.z;
    float inside = 1.0 - smoothstep(0.42, 0.5, max(abs(uv.x), abs(uv.y)));
    if (inside <= 0.0) return vec4(0.0);
    vec4 m = textureLod(water_marks_map, uv + 0.5, 0.0) * inside;
    m.xy /= 1.0 + pixel_m * pixel_m * 4.0;
    return m;
#else
    return vec4(0.0);
#endif
}

vec3 mirrored_light(vec3 n, vec3 v, float deviation) {
    vec3 r = reflect(-v, n);
    r.z = abs(r.z) + 0.35 * deviation;
    vec3 sky = sky_radiance(normalize(r));
#if PLANAR_REFLECTION
    // What stands about, as far as the waves leave the mirror one.
    vec2 bent = vec2(dot(n.xy, vec2(v.y, -v.x)), -length(n.xy)) * 0.08;
    vec3 seen = texture(reflection_map, clamp(gl_FragCoord.xy * viewport.zw + bent, 0.001, 0.999)).rgb;
    return mix(seen, sky, saturate(1.6 * sea_look.x));
#else
    return sky;
#endif
}

// The surface from below: the sky through a window overhead, and around it the water's own light, mirrored.
vec3 from_below(vec3 n, vec3 up_ray) {
    vec3 out_ray = refract(up_ray, -n, 1.333);
    vec3 mirrored = deep_water(reflect(up_ray, -n));
    if (dot(out_ray, out_ray) < 0.5 || out_ray.z <= 0.0) return mirrored;
    float cosine = saturate(dot(out_ray, n));
    float fresnel = 0.02 + 0.98 * pow(1.0 - cosine, 5.0);
    vec3 sky = sky_radiance(out_ray) + sun_irradiance.rgb * 6.0 * pow(saturate(dot(out_ray, sun_direction.xyz)), 180.0);
    return mix(sky, mirrored, fresnel);
}

void main() {
#if FULL_MATERIALS
    if (beyond_bounds(p_w.xy)) discard;
    float inside = within_hull();
    if (inside > 0.0) discard;
#else
    vec4 place = texelFetch(sea_place_map, ivec2(gl_FragCoord.xy), 0);
    float inside = place.w;
    vec4 end = world_from_clip * vec4(2.0 * gl_FragCoord.xy * viewport.zw - 1.0, 1.0, 1.0);
    p_w = eye.xyz + place.z * normalize(end.xyz / end.w - eye.xyz);
    rest = place.xy;
    vec2 out_there = rest - eye.xy;
    rise = p_w.z - sea_level + dot(out_there, out_there) / (2.0 * EARTH_M);
    vec4 veil = texelFetch(sea_veil_map, ivec2(gl_FragCoord.xy), 0);
    transmittance = transmittance_to(p_w);
    inscatter = veil.rgb;
#endif
#if SHORE
    float depth = rise + textureLod(sea_depth_map, 0.5 + 0.5 * (p_w.xy - sea_bounds.xy) / sea_bounds.zw, 0.0).r;
#else
    const float depth = 60.0;
#endif

    vec3 v = eye.xyz - p_w;
    float distance_m = length(v);
    v /= distance_m;
    vec3 upward = vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]);
    float pixel_m = distance_m * 2.0 * viewport.w / length(upward);
    float footprint = pixel_m * inversesqrt(clamp(abs(v.z), 0.03, 1.0));
#if !FULL_MATERIALS
    float longest = pixel_m / clamp(abs(v.z), 0.03, 1.0);
    footprint *= SIMPLY;
#endif
    vec4 finest = slope_of(sea_slope_2, sea_edges.z, footprint);
    vec4 s = slope_of(sea_slope_0, sea_edges.x, footprint) + slope_of(sea_slope_1, sea_edges.y, footprint) + finest;
    float churned = 0.0;
#if SPLASHING
    vec2 box_uv;
    float splashing = in_box(p_w.xy, box_uv);
    if (splashing > 0.0) {
        vec4 own = textureLod(box_map, box_uv, 0.0);
        s = mix(s, vec4(own.yz + 0.5 * finest.xy, 0.5 * finest.zw), splashing);  // it carries no finer waves
        churned = splashing * own.w;
    }
#endif
    float near = saturate(1.0 - 10.0 * footprint);  // ripples that no tile has are seen from here
    float variance = s.z + sea_look.y * (1.0 - 0.8 * near * near);
    vec4 mark = marks(pixel_m);
    vec2 slope = s.xy / max(1.0 + 0.5 * s.w, 0.4);

    vec2 carried = rest - sea_wind * sea_look.w * 0.5;
#if FULL_MATERIALS
    vec2 fine = texture(slope_map, carried * 0.53).xy + texture(slope_map, 2.3 * carried.yx + 0.1 * sea_look.w).yx
        + texture(slope_map, 0.19 * carried.yx - 0.03 * sea_look.w).yx - 1.5;
#else
    vec2 fine = 2.0 * textureLod(slope_map, carried * 0.27, tiled_level(0.27 * longest, textureSize(slope_map, 0).x)).xy - 1.0;
#endif
    slope += 3.0 * sqrt(sea_look.y) * fine;
    vec3 n = normalize(vec3(-slope - mark.xy, 1.0));
    if (EYE_UNDER) {
        colour = vec4(from_below(n, -v) * transmittance + inscatter, 1.0);
#if FULL_MATERIALS
        colour.a = distance_m;
#endif
        return;
    }
    float nv = dot(n, v);
    if (nv < 0.02) n = normalize(n + v * (0.02 - nv));
    nv = max(dot(n, v), 0.02);

    float deviation = sqrt(variance);
    // Mean of Fresnel's reflectance over such slopes (Bruneton et al. 2010).
    float fresnel = 0.02 + 0.98 * pow(1.0 - nv, 5.0 * exp(-2.69 * deviation)) / (1.0 + 22.7 * deviation * sqrt(deviation));
    vec3 up = sky_irradiance(vec3(0.0, 0.0, 1.0));
    // Of the sun in the mirror the hull hides what it hides; what the water itself scatters comes from about.
    float down_m = min(mix(SEEN_DOWN_M, SILT_SEEN_DOWN_M, sea_silt), max(depth, 0.0));
    vec3 over = p_w + vec3(0.0, 0.0, 0.03), from = over + vec3(BENT * down_m * n.xy, 0.0);
#if SHORE
    float still_sun = canyon_sun(p_w + vec3(0.0, 0.0, 0.35));
    float sun = min(still_sun, vehicle_sun_about(over, 0.0));
    float sun_within = min(still_sun, vehicle_sun_about(from, SPREAD * down_m));
#else  // nothing that stands still casts a shadow
    float sun = casters_sun_about(over, 0.0), sun_within = casters_sun_about(from, SPREAD * down_m);
#endif
    vec3 sunlight = sun_irradiance.rgb * sun, sunlight_within = sun_irradiance.rgb * sun_within;
    vec3 light = up + sunlight_within * max(sun_direction.z, 0.0);

    // Light through the crests, seen against the sun.
    float crest = saturate(0.23 * rise / max(sea_look.x, 0.05) + 0.12) * saturate(sea_look.x * 2.0);
    vec3 away = -normalize(vec3(sun_direction.xy, -0.1));
    float against = saturate(dot(v, away) * 0.5 + 0.5), faced = saturate(0.75 - 0.5 * dot(sun_direction.xyz, n));
    float through_crest = crest * against * against * against * faced * sqrt(faced);
    vec3 body = DEEP * light * 0.55
        + CREST * (sunlight_within * (0.65 * through_crest + 0.10 * crest * crest * saturate(dot(n, sun_direction.xyz))) + up * 0.16 * crest);
    body = mix(body, 1.15 * SILT * light, sea_silt);
    body = mix(body, AERATED * light / PI, saturate(0.75 * max(mark.w, churned)));
    float thickness = max(depth, 0.0) / max(v.z, 0.25);
#if FULL_MATERIALS
    vec2 screen = gl_FragCoord.xy * viewport.zw;
    vec4 straight = texture(opaque_map, screen);
    vec4 bed = texture(opaque_map, screen + n.xy * 0.05 * saturate(0.5 * (straight.a - distance_m)));
    if (bed.a < distance_m) bed = straight;
    thickness = max(bed.a - distance_m, 0.0);
#else
    vec4 bed = vec4(BED / PI * light * 1.1, 0.0);
#endif
#if SHORE || FULL_MATERIALS
    vec3 through = exp(-thickness * mix(WATER_ABSORPTION, SILT_ABSORPTION, sea_silt)) * (1.0 - 0.6 * saturate(mark.w));
#else
    const vec3 through = vec3(0.0);
#endif
    vec3 c = mix(bed.rgb * through + body * (1.0 - through), mirrored_light(n, v, deviation), fresnel);
    c += sunlight * ggx(n, v, sun_direction.xyz, 0.02, clamp(deviation, 0.03, 0.6));

    // Foam of whitecaps, of wakes, and where water washes about hull and shore.
    vec2 lane = rest - 0.02 * sea_wind * sea_look.w;
#if FULL_MATERIALS
    vec4 patches = texture(noise_map, lane * 0.33 + slope * 0.05);
    float coarse = texture(noise_map, lane * 0.11).r * 0.5 + texture(noise_map, lane * 0.47).b * 0.5;
    float lace = patches.b * 0.6 + texture(noise_map, lane * 1.3).g * 0.4;
#else
    vec4 patches = textureLod(noise_map, lane * 0.33 + slope * 0.05, tiled_level(0.33 * longest, textureSize(noise_map, 0).x));
    float coarse = 0.5 * (patches.r + patches.b), lace = 0.6 * patches.b + 0.4 * patches.g;
#endif
#if FULL_MATERIALS
    float caps = foam_of_caps(sea_foam_map, rest);
#else
    float caps = veil.a;
#endif
    float washed = exp(-max(-inside, 0.0) * 9.0) * saturate(0.25 + 2.0 * sea_look.x);
    float shore = exp(-max(depth, 0.0) * 5.0) * 0.7;
    float amount = saturate(max(max(max(1.15 * caps, mark.z), 0.9 * churned), max(washed, shore)));
    float grain = 0.5 * coarse + 0.5 * lace;
    // What broke a while ago is lace, which the wind draws out.
    float old = smoothstep(0.04, 0.2, amount) * (1.0 - smoothstep(0.4, 0.65, amount));
#if FULL_MATERIALS
    vec2 drawn = vec2(dot(lane, sea_wind), dot(lane, vec2(-sea_wind.y, sea_wind.x)));
    float drift = texture(noise_map, drawn * vec2(0.07, 0.29) + 0.03 * patches.rg).g;
    grain += old * (0.2 + 0.9 * (drift - 0.5));
#else
    grain += 0.1 * old;
#endif
    float foam = smoothstep(0.72 - 0.42 * amount, 1.06 - 0.46 * amount, grain + 0.12 * amount) + 0.35 * amount * amount;
    foam *= saturate(4.0 * amount);
    vec3 lit = sunlight * saturate(dot(normalize(n + vec3(0.0, 0.0, 0.6)), sun_direction.xyz)) + up * 0.95;
    c = mix(c, FOAM_ALBEDO / PI * lit, 0.92 * saturate(foam));

    c = c * transmittance + inscatter;
#if FULL_MATERIALS
    colour = vec4(c, distance_m);
#else
    colour = vec4(c, smoothstep(-0.02, 0.10, depth));
#endif
}
