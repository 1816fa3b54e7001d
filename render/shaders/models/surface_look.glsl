// What a point of a model is made of: plain factors, or a finish drawn from the paint coordinates.
#include "models/parts.glsl"

in vec3 p_w, n_w;
in float open_share;
in vec4 paint_at;
flat in int material;
in vec3 clearness, veil;

uniform vec4 base[MAX_MATERIALS];    // rgb, metallic
uniform vec4 second[MAX_MATERIALS];  // rgb, roughness
uniform vec4 accent[MAX_MATERIALS];  // rgb, finish
uniform vec4 glow[MAX_MATERIALS];    // rgb, alpha
uniform vec4 tint;                   // rgb, amount
#ifndef NO_DIALS
uniform vec3 attitude;               // roll, pitch, heading
uniform bool dials;                  // whether they are seen
#endif

struct Look {
    vec3 albedo;
    float metallic, roughness;
    vec3 emission;
};

const vec3 SEAL = vec3(0.012);
const float SEAL_M = 0.022;
const float SEAM_M = 0.0035;
const float ACCENT_M = 0.03;

// Coverage of the half space where a signed distance is negative, and of a line of given half width.
float inside(float d) {
    float w = fwidth(d) + 1e-5;
    return clamp(0.5 - d / w, 0.0, 1.0);
}
float line(float d, float half_width) {
    float w = fwidth(d) + 1e-5;
    return min(clamp((half_width - abs(d)) / w + 0.5, 0.0, 1.0), 2.0 * half_width / w);
}

void livery(inout Look look) {
    vec3 stripe = mix(accent[material].rgb, tint.rgb, tint.w);
    look.albedo = mix(look.albedo, second[material].rgb, inside(paint_at.z));
    look.albedo = mix(look.albedo, stripe, line(paint_at.w, ACCENT_M));
    look.albedo *= 1.0 - 0.75 * line(paint_at.y, SEAM_M);
    float seal = inside(paint_at.x - SEAL_M);
    look.albedo = mix(look.albedo, SEAL, seal);
    look.roughness = mix(look.roughness, 0.6, seal);
}

#ifndef NO_DIALS
// Round instruments: rim, ticks, a needle that leans with the attitude.
vec3 dial_face(vec2 at, float kind) {
    float r = length(at), angle = atan(at.x, at.y);
    float px = fwidth(r) + 1e-4;
    float rim = smoothstep(0.90 - px, 0.90 + px, r);
    float tick = step(0.70, r) * step(r, 0.86) * smoothstep(0.10, 0.06, abs(fract(angle * 12.0 / (2.0 * PI) + 0.5) - 0.5));
    float lean = kind < 0.5 ? attitude.z : (kind < 1.5 ? attitude.y * 3.0 : 0.7 * kind - 2.4);
    vec2 hand = vec2(sin(lean), cos(lean));
    float along = dot(at, hand), off = abs(at.x * hand.y - at.y * hand.x);
    float needle = step(-0.12, along) * step(along, 0.66) * (1.0 - smoothstep(0.035, 0.035 + px, off));
    vec3 face = vec3(0.9) * max(tick * 0.7, needle);
    return mix(face, vec3(0.05), rim);
}

// Displays: an artificial horizon, and a map with the heading up.
vec3 attitude_screen(vec2 at) {
    float c = cos(attitude.x), s = sin(attitude.x);
    vec2 q = mat2(c, -s, s, c) * at;  // the horizon leans against the roll
    float climb = q.y + clamp(attitude.y, -1.2, 1.2) * 1.4;
    vec3 picture = mix(vec3(0.16, 0.075, 0.02), vec3(0.02, 0.14, 0.38), smoothstep(-0.01, 0.01, climb));
    picture = mix(picture, vec3(0.9), 1.0 - smoothstep(0.008, 0.02, abs(climb)));
    float rung = (1.0 - smoothstep(0.006, 0.014, abs(fract(climb * 4.0 + 0.5) - 0.5) / 4.0)) * step(abs(q.x), 0.22);
    picture = mix(picture, vec3(0.8), 0.7 * rung);
    float wings = step(abs(at.y), 0.022) * step(0.16, abs(at.x)) * step(abs(at.x), 0.5);
    return mix(picture, vec3(0.95, 0.65, 0.05), wings);
}
vec3 map_screen(vec2 at) {
    float c = cos(attitude.z), s = sin(attitude.z);
    vec2 q = mat2(c, s, -s, c) * at;  // the ground turns against the heading
    vec3 picture = vec3(0.006, 0.012, 0.012) + vec3(0.01, 0.03, 0.03) * step(0.5, fract(q.x * 2.5)) * step(0.5, fract(q.y * 2.5));
    picture += vec3(0.0, 0.30, 0.12) * (1.0 - smoothstep(0.01, 0.025, abs(length(at) - 0.55)));
    picture += vec3(0.0, 0.22, 0.35) * (1.0 - smoothstep(0.03, 0.06, abs(q.x - 0.18 * sin(q.y * 4.0))));
    float craft = step(abs(at.x), 0.07 * (0.12 - at.y) / 0.24) * step(abs(at.y), 0.12);
    return mix(picture, vec3(0.9, 0.65, 0.05), craft);
}

#endif

Look look_here() {
    Look look;
    look.albedo = base[material].rgb;
    look.metallic = base[material].w;
    look.roughness = second[material].w;
    look.emission = glow[material].rgb;
    int finish = int(accent[material].w + 0.5);
    if (finish == COAT) look.albedo = mix(look.albedo, tint.rgb, tint.w);
    if (finish == LIVERY || finish == COAT) livery(look);
#ifndef NO_DIALS
    if (finish == DIAL && dials) {
        float kind = paint_at.z;
        vec3 face = kind < 19.5 ? dial_face(paint_at.xy, kind)
                                : (kind < 20.5 ? attitude_screen(paint_at.xy) : map_screen(paint_at.xy));
        look.albedo += face * 0.5;
        look.emission *= face * 2.0;
    }
#endif
    return look;
}
