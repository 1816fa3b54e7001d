// Panes: what they mirror, and how much they dim what lies behind.
#include "surface.glsl"
#include "shadow.glsl"
#include "models/surface_look.glsl"

out vec4 colour;

// Burning gas: `paint` is the share along the flame and the layer; it thins towards its rim and its end.
vec4 flame(vec3 v) {
    float along = paint_at.x, layer = paint_at.y;
    float facing = abs(dot(normalize(n_w), v));
    float flicker = 0.85 + 0.15 * sin(eye.w * 61.0 + along * 17.0 + layer * 9.0);
    float cover = pow(facing, 1.5) * pow(1.0 - along, 1.2) * mix(0.75, 0.30, layer) * flicker;
    vec3 hot = mix(vec3(6.0, 7.5, 11.0), glow[material].rgb, smoothstep(0.0, 0.35, along + 0.4 * layer - 0.2));
    return vec4(hot, saturate(cover));
}

void main() {
    if (clipped(p_w)) discard;
    vec3 v = normalize(eye.xyz - p_w);
    if (int(accent[material].w + 0.5) == FLAME) {
        colour = flame(v);
        return;
    }
    vec3 n = normalize(n_w);
    bool from_within = !gl_FrontFacing;
    if (dot(n, v) < 0.0) n = -n;
    float nv = saturate(dot(n, v));
    float fresnel = 0.05 + 0.95 * pow(1.0 - nv, 5.0);
    float dim = from_within ? 0.10 : glow[material].w;
    float cover = 1.0 - (1.0 - fresnel) * (1.0 - dim);
    vec3 r = reflect(-v, n);
    vec3 mirrored = from_within ? sky_irradiance(n) / PI * 0.25 : environment(r, 0.02);
    float lit = from_within ? 0.0 : sun_visibility(p_w, n);
    vec3 glint = sun_irradiance.rgb * lit * ggx(n, v, sun_direction.xyz, 0.05, 0.006);
    vec3 body = base[material].rgb * sky_irradiance(n) / PI * dim;
    vec3 light = mirrored * fresnel + glint + body;
    cover = saturate(max(cover, dot(glint, vec3(0.2))));
    colour = vec4(light / max(cover, 1e-3) * clearness + veil, cover);
}
