// Spray as water: its normal from the depths about it, sky in its rim, light through it, white where it is thin.
#include "surface.glsl"

in vec2 uv;
out vec4 colour;

uniform sampler2D depth_map;
uniform vec2 texel;
#if FULL_MATERIALS
uniform sampler2D opaque_map;
#endif

// One over the depth between the four nearest points that have one, and the thickness between all four.
vec2 seen_at(vec2 at) {
    vec2 px = at / texel - 0.5, share = fract(px);
    ivec2 low = ivec2(floor(px)), most = textureSize(depth_map, 0) - 1;
    vec2 sum = vec2(0.0);
    float weight = 0.0;
    for (int k = 0; k < 4; k++) {
        ivec2 side = ivec2(k & 1, k >> 1);
        vec2 there = texelFetch(depth_map, clamp(low + side, ivec2(0), most), 0).rg;
        vec2 w = mix(1.0 - share, share, vec2(side));
        sum += w.x * w.y * there;
        weight += there.r > 0.0 ? w.x * w.y : 0.0;
    }
    return vec2(weight > 0.0 ? sum.r / weight : 0.0, sum.g);
}

// The place at a depth along the ray of a point of the picture.
vec3 place_at(vec2 at, float nearness) {
    vec4 q = world_from_clip * vec4(at * 2.0 - 1.0, 0.5, 1.0);
    vec3 way = q.xyz / q.w - eye.xyz;
    float depth = (clip_from_world * vec4(eye.xyz + way, 1.0)).w;
    return eye.xyz + way / (max(nearness, 1e-4) * depth);
}

// Along one axis to the neighbour that is nearer in depth.
vec3 slope(vec3 here, float nearness, vec2 by) {
    float a = seen_at(uv - by).r, b = seen_at(uv + by).r;
    bool back = b <= 0.0 || (a > 0.0 && abs(a - nearness) < abs(b - nearness));
    if (back && a <= 0.0) return vec3(0.0);
    return back ? here - place_at(uv - by, a) : place_at(uv + by, b) - here;
}

void main() {
    vec2 seen = seen_at(uv);
    if (seen.r <= 0.0 || seen.g < 1e-3) discard;
    vec3 p = place_at(uv, seen.r), v = normalize(eye.xyz - p), l = sun_direction.xyz;
    vec3 n = cross(slope(p, seen.r, vec2(texel.x, 0.0)), slope(p, seen.r, vec2(0.0, texel.y)));
    n = dot(n, n) > 1e-14 ? normalize(n) : v;
    n = dot(n, v) < 0.0 ? -n : n;
    // Light goes through drops: the far side is not dark, and against the sun they shine.
    float through = 0.45 + 0.55 * saturate(dot(n, l)) + 0.8 * pow(saturate(-dot(v, l)), 6.0);
    vec3 white = 0.6 / PI * (sky_irradiance(n) + sun_irradiance.rgb * 0.8 * through);
    float clear = smoothstep(0.03, 0.25, seen.g);
    float fresnel = 0.02 + 0.98 * pow(1.0 - saturate(dot(n, v)), 5.0);
    vec3 r = reflect(-v, n);
    vec3 mirrored = sky_radiance(normalize(vec3(r.xy, abs(r.z) + 0.02)));
    vec3 body = vec3(0.02, 0.11, 0.13) * (sky_irradiance(vec3(0.0, 0.0, 1.0)) + sun_irradiance.rgb * through) / PI;
#if FULL_MATERIALS
    vec3 n_eye = (clip_from_world * vec4(n, 0.0)).xyz;
    vec3 behind = texture(opaque_map, uv + 0.03 * n_eye.xy).rgb;
    body = mix(body, behind, 0.5 * exp(-1.5 * seen.g));
#endif
    vec3 water_c = mix(body, mirrored, fresnel) + sun_irradiance.rgb * ggx(n, v, l, 0.02, 0.18);
    vec3 c = mix(white, mix(water_c, white, 0.3), clear);
    vec4 clip = clip_from_world * vec4(p, 1.0);
    gl_FragDepth = 0.5 + 0.5 * clip.z / clip.w;
    colour = vec4(through_haze(c, p), smoothstep(0.45, 0.97, 1.0 - exp(-16.0 * seen.g)));
}
