// River or lake: ripples carried by the flow, Fresnel reflection of walls and sky, and the bed seen through green water.
#include "surface.glsl"
#include "shadow.glsl"
#include "strata.glsl"

in vec3 p_w;
in vec2 channel;
in vec2 flow;
in float depth_m;
in vec3 transmittance;
in vec3 inscatter;
in float riffle;
in float lump;
out vec4 colour;

#include "noise_map.glsl"
uniform sampler2D slope_map, strata_map;
#if BLOCKS
uniform sampler2D scene_depth_map;
#endif
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

const vec3 ABSORPTION = vec3(0.62, 0.26, 0.25);   // per m
const vec3 BODY = vec3(0.036, 0.052, 0.041);      // what deep water scatters back
const vec3 AERATED = vec3(0.10, 0.17, 0.15);      // what it scatters back where it is full of bubbles
const vec3 BED = vec3(0.20, 0.155, 0.105);        // wet sand

vec2 slope_at(vec2 uv) { return texture(slope_map, uv).xy * 2.0 - 1.0; }

// Slopes across and along the flow: three scales carried at their own pace.
vec2 ripples() {
    float t = eye.w;
    vec2 s = slope_at(channel * vec2(0.085, 0.05) - vec2(0.0, t * 0.05)) * 0.34
        + slope_at(channel * vec2(0.24, 0.17) + vec2(0.3, -t * 0.13)) * 0.30;
#if FULL_MATERIALS
    s += slope_at(channel * 0.71 + vec2(0.1, -t * 0.3)) * 0.22;
#endif
    return s * mix(0.16, 0.55, riffle);
}

#if !PLANAR_REFLECTION && WALLS
const vec2 TERRACES[4] = vec2[](vec2(40.0, 17.0), vec2(61.0, 66.0), vec2(98.0, 114.0), vec2(138.0, 158.0));
const float BEND_M = 450.0;  // no view along the river is longer
const float SOFT = 0.2;      // share of a wall's height in which it goes over into the sky: ripples blur its edge

// The canyon in the water without drawing it twice: terraces at their usual distance from the river, in their strata.
// Texture levels are explicit: neighbouring pixels may take different ways through the loop.
vec3 wall_or_sky(vec3 r) {
    vec2 across = vec2(-flow.y, flow.x);
    float sideways = dot(r.xy, across);
    float side = sign(sideways);
    // Software GL goes through all of the loop: what is hit is lit after it, once.
    float rise = -1.0, over = 1.0;
    vec3 hit = p_w;
    for (int i = 0; i < 4 && rise < 0.0; i++) {
        float reach = (TERRACES[i].x * (1.0 + 0.5 * lump) - side * channel.x) / max(abs(sideways), 1e-3);
        reach = min(reach, BEND_M);
        hit = p_w + r * reach;
#if FULL_MATERIALS
        float edge = textureLod(noise_map, vec2(hit.x + hit.y, float(i) * 40.0) * 0.012, 1.0).r - 0.5;
#else
        float edge = lump;
#endif
        float top = TERRACES[i].y * (1.0 + 0.9 * edge);
        if (r.z * reach <= top) rise = r.z * reach;
        over = min(over, r.z * reach / top - 1.0);
    }
    float above = smoothstep(0.0, SOFT, over);
    vec3 open = sky_radiance(r);
    if (above >= 1.0) return open;
    if (rise < 0.0) rise = TERRACES[3].y;
    vec3 n = normalize(vec3(-side * across, 0.35));
#if FULL_MATERIALS
    float grain = textureLod(noise_map, vec2((hit.x + hit.y) * 0.02, rise * 0.03), 2.0).r;
#else
    float grain = 0.5;
#endif
    vec3 albedo = textureLod(strata_map, vec2(rise / STRATA_TOP, 0.5), 1.0).rgb * (0.55 + 0.8 * grain);
    float sun = saturate(dot(n, sun_direction.xyz));
    if (sun > 0.0) sun *= canyon_sun(hit);
    vec3 sky = sky_irradiance(n) * 0.5;
    vec3 wall = albedo / PI * (sun_irradiance.rgb * (sun * 0.8 + ROCK_BOUNCE * 0.2) + sky);
    return mix(wall, open, above);
}
#endif

vec3 reflection(vec3 n, vec3 v, vec2 screen) {
#if PLANAR_REFLECTION
    vec2 bent = vec2(n.x * 0.07, -abs(n.y) * 0.05 + n.y * 0.06);
    return texture(reflection_map, clamp(screen + bent, 0.001, 0.999)).rgb;
#else
    vec3 r = reflect(-v, n);
    r = normalize(vec3(r.xy, max(abs(r.z), 0.01)));
#if WALLS
    return wall_or_sky(r);
#else
    return sky_radiance(r);
#endif
#endif
}

#if FULL_MATERIALS
// Depth of the water where the bank that is drawn meets it. Far banks are too coarse: there the strip's own depth holds.
float shore_depth(float beyond, float steepness, float distance_m) {
    return mix(beyond * steepness, depth_m, smoothstep(120.0, 260.0, distance_m));
}

// A thin, lacy line that comes and goes at the water's edge.
float foam(float depth) {
    float reach = textureLod(noise_map, channel * 0.045 + vec2(0.0, eye.w * 0.004), 1.0).g;
    float lace = 0.55 * texture(noise_map, channel * vec2(0.16, 0.13) + vec2(0.02, -0.03) * eye.w).r
        + 0.45 * texture(noise_map, channel.yx * 0.43 + vec2(0.03, 0.01) * eye.w).a;
    float swash = 0.04 + 0.20 * reach + 0.02 * sin(eye.w * 0.9 + 20.0 * reach);
    float line = smoothstep(0.0, 0.03, depth) * (1.0 - smoothstep(0.2 * swash, swash, depth));
    return line * smoothstep(0.34, 0.66, lace) * 0.55;
}
#endif

// Slopes, foam and air of wakes, splashes and rotors; slopes that are finer than a pixel are levelled.
vec4 marks() {
#if MARKS
    vec2 uv = (p_w.xy - marks_window.xy) * marks_window.z;
    float inside = 1.0 - smoothstep(0.42, 0.5, max(abs(uv.x), abs(uv.y)));
    if (inside <= 0.0) return vec4(0.0);
    vec4 m = textureLod(water_marks_map, uv + 0.5, 0.0) * inside;
    vec3 upward = vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]);
    float pixel_m = distance(p_w, eye.xyz) * 2.0 * viewport.w / length(upward);
    m.xy /= 1.0 + pixel_m * pixel_m * 4.0;
    return m;
#else
    return vec4(0.0);
#endif
}

#if BLOCKS
// Shaded once in two by two pixels: of no use where the land hides all of these.
bool hidden() {
    ivec2 first = 2 * ivec2(gl_FragCoord.xy), last = textureSize(scene_depth_map, 0) - 1;
    float behind = max(max(texelFetch(scene_depth_map, min(first, last), 0).r, texelFetch(scene_depth_map, min(first + ivec2(1, 0), last), 0).r),
        max(texelFetch(scene_depth_map, min(first + ivec2(0, 1), last), 0).r, texelFetch(scene_depth_map, min(first + 1, last), 0).r));
    return behind < gl_FragCoord.z;
}
#endif

void main() {
#if !FULL_MATERIALS
    if (depth_m < -0.05) discard;
#endif
#if BLOCKS
    if (hidden()) discard;
#endif
    vec3 v = normalize(eye.xyz - p_w);
    float distance_m = distance(p_w, eye.xyz);
    vec2 s = ripples();
    vec4 mark = marks();
    vec2 ripple_w = s.y * flow + s.x * vec2(-flow.y, flow.x);
    vec3 n = normalize(vec3(-ripple_w - mark.xy, 1.0));
#if !PLANAR_REFLECTION && WALLS
    // An edge of the walls falls on one ripple and not on the next: with all of them it is mere noise.
    vec3 mirror_n = normalize(vec3(-0.45 * ripple_w - mark.xy, 1.0));
#else
    vec3 mirror_n = n;
#endif
    vec2 screen = gl_FragCoord.xy * viewport.zw;
    float sun = sun_visibility(p_w, vec3(0.0, 0.0, 1.0));
    vec3 light = sky_irradiance(vec3(0.0, 0.0, 1.0)) * 0.7 + sun_irradiance.rgb * sun_direction.z * sun * 0.75;

#if FULL_MATERIALS
    vec4 straight = texture(opaque_map, screen);
    float shore = shore_depth(straight.a - distance_m, v.z, distance_m);
    if (shore < 0.0) discard;
    vec2 bent = screen + n.xy * 0.05 * saturate((straight.a - distance_m) * 0.5);
    vec4 bed = texture(opaque_map, bent);
    if (bed.a < distance_m) bed = straight;
    float thickness = max(bed.a - distance_m, 0.0);
#else
    float thickness = max(depth_m, 0.0) / max(v.z, 0.2);
    vec4 bed = vec4(BED / PI * light * 1.2, 0.0);
#endif
    vec3 through = exp(-thickness * ABSORPTION);
    vec3 body = mix(BODY, AERATED, saturate(mark.w) * 0.7);
    through *= 1.0 - 0.6 * saturate(mark.w);
    vec3 refracted = bed.rgb * through + body * light / PI * 1.15 * (1.0 - through);

    float fresnel = 0.02 + 0.98 * pow(1.0 - saturate(dot(n, v)), 5.0);
    vec3 c = mix(refracted, reflection(mirror_n, v, screen), fresnel);
    c += sun_irradiance.rgb * ggx(n, v, sun_direction.xyz, 0.02, 0.02) * sun;
#if MARKS
    if (mark.z > 0.01) {
        vec2 drift = p_w.xy + mark.xy;
        float lace = 0.55 * texture(noise_map, drift * 0.46).g + 0.45 * texture(noise_map, drift.yx * 1.3 + 0.01 * eye.w).r;
        float cover = 0.8 * smoothstep(0.66 - 0.40 * mark.z, 1.02 - 0.40 * mark.z, lace) + 0.30 * mark.z;
        c = mix(c, 0.70 / PI * light, saturate(cover) * saturate(4.0 * mark.z));
    }
#endif
#if FULL_MATERIALS
    c = mix(c, 0.62 / PI * light, foam(shore));
    vec3 seen = c * transmittance + inscatter;
    colour = vec4(mix(straight.rgb, seen, smoothstep(0.0, 0.05, shore)), distance_m);
#else
    colour = vec4(c * transmittance + inscatter, smoothstep(-0.05, 0.12, depth_m));
#endif
}
