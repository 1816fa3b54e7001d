// Concrete with ring, H and edge stripes painted by signed distance in metres, crisp at any range, and the earth about it.
#include "surface.glsl"
#include "shadow.glsl"
#include "gravel.glsl"

in vec3 p_w;
in vec3 n_w;
in vec2 pad_m;
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

const float HALF_WIDTH = 8.0;
const vec3 CONCRETE = vec3(0.26, 0.24, 0.215), WHITE = vec3(0.72, 0.70, 0.66), YELLOW = vec3(0.68, 0.42, 0.05);
const vec3 EARTH = vec3(0.32, 0.225, 0.145);

float box(vec2 p, vec2 half_size) {
    vec2 d = abs(p) - half_size;
    return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0);
}

float inside(float signed_distance) {
    float width = max(fwidth(signed_distance), 1e-4);
    return saturate(0.5 - signed_distance / width);
}

void main() {
    if (clipped(p_w)) discard;
    vec3 n = normalize(n_w);
    vec4 grain = texture(noise_map, pad_m * 0.21), stain = texture(noise_map, pad_m * 0.037 + 0.3);
    float stones = gravel(pad_m);
    vec3 albedo = CONCRETE * (0.75 + 0.3 * grain.r + 0.35 * stain.r) * (1.0 + 0.34 * stones);

    float wear = smoothstep(0.30, 0.52, grain.g * 0.6 + grain.a * 0.4) * 0.9;
    float letter = min(box(vec2(pad_m.x, abs(pad_m.y) - 1.5), vec2(2.4, 0.36)), box(pad_m, vec2(0.36, 1.5)));
    float ring = abs(length(pad_m) - 5.0) - 0.22;
    float border = abs(box(pad_m, vec2(HALF_WIDTH - 0.55))) - 0.16;
    float top = smoothstep(0.9, 0.99, n.z);
    albedo = mix(albedo, WHITE, inside(letter) * wear * top);
    albedo = mix(albedo, YELLOW, inside(ring) * wear * top);
    albedo = mix(albedo, WHITE, inside(border) * wear * top * 0.8);
    float seam = min(abs(pad_m.x), abs(pad_m.y)) - 0.02;
    albedo *= 1.0 - 0.35 * inside(seam) * (1.0 - inside(letter)) * top;

    float apron = smoothstep(HALF_WIDTH, HALF_WIDTH + 0.12, max(abs(pad_m.x), abs(pad_m.y)));
    float fine = texture(noise_map, pad_m * 0.9 + 0.6).a;
    albedo = mix(albedo, EARTH * (0.05 + 0.6 * grain.r + 0.4 * stain.g + 0.6 * fine) * (1.0 + 0.8 * stones), apron);

    n = normalize(n + vec3(grain.r - 0.5 + stones, grain.g - 0.5 - stones, 0.0) * 0.15);
    float sun = saturate(dot(n, sun_direction.xyz));
    if (sun > 0.0) sun *= sun_visibility(p_w, n);
    vec3 ambient = sky_irradiance(n) * 0.8 + land_light() * 0.1;
    vec3 radiance = albedo / PI * (sun_irradiance.rgb * sun + ambient);
    colour = vec4(radiance * transmittance + inscatter, distance(p_w, eye.xyz));
}
