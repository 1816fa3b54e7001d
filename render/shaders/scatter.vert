// A thing placed on the ground: turned about its height, scaled, hazed per vertex.
#if FULL_MATERIALS
#define BAKE  // shadows are looked up by pixel
#endif
#include "leaves.glsl"

in vec3 position;
in vec3 normal;
#ifdef CARDS
in vec2 uv;
out vec2 leaf_uv;
#endif
in vec3 place;
in float scale;
in vec3 tint;
in float yaw;

out vec3 p_w;
out vec3 n_w;
out vec3 albedo;
out float rise;  // height above its foot, in its own unit
out vec3 transmittance;
out vec3 inscatter;
#if defined(CARDS) && !FULL_MATERIALS
out vec3 lit;  // of a leaf of middling grey, behind the air
#endif

void main() {
    float c = cos(yaw), s = sin(yaw);
    mat3 turn = mat3(c, s, 0.0, -s, c, 0.0, 0.0, 0.0, 1.0);
    p_w = place + turn * position * scale;
    n_w = turn * normal;
    albedo = tint;
    rise = position.z;
#ifdef CARDS
    leaf_uv = uv;
    p_w.xy += vec2(0.035, 0.02) * scale * rise * rise * sin(eye.w * 1.9 + place.x * 0.31 + place.y * 0.23 + position.x * 2.0);
#endif
    haze_to(p_w, transmittance, inscatter);
#if defined(CARDS) && !FULL_MATERIALS
    vec3 leaf_n = normalize(n_w);
    lit = tint * transmittance * leaf_light(p_w, leaf_n, rise, sun_visibility(p_w, leaf_n)) / PI;
#endif
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
