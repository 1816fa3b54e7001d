// Things on a level ground, already in the world. Layers that lie in its plane are drawn a little nearer to the eye:
// along the line of sight, so that they stay where they are seen.
#include "surface.glsl"

in vec3 position;
in vec3 normal;
in vec2 uv;
in vec2 surface;
in float sky_share;

out vec3 p_w;
out vec3 n_w;
out vec2 on_face;
flat out int kind;
#if FULL_MATERIALS
out float open_sky;
out float lamps;  // light of a tunnel's own, 0..1
#else
out vec3 ambient;
#endif
out vec3 transmittance;
out vec3 inscatter;

#include "prop_ambient.glsl"

const float LAYER_SHARE = 0.0006;

void main() {
    p_w = position;
    n_w = normal;
    on_face = uv;
    kind = int(surface.x + 0.5);
#ifdef ROOM
#if FULL_MATERIALS
    open_sky = sky_share;
    lamps = 1.0;
#else
    ambient = room_ambient(sky_share);
    if (kind == LAMP) ambient += lamp_light(normal, true);
#endif
#elif FULL_MATERIALS
    open_sky = 1.0 - abs(sky_share - 1.0);
    lamps = max(sky_share - 1.0, 0.0);
#else
    float beneath = max(sky_share - 1.0, 0.0);
    ambient = prop_ambient(normal, 1.0 - abs(sky_share - 1.0), beneath, kind == ASPHALT);
    if (kind == LAMP) ambient += lamp_light(normal, beneath > 0.0);
#endif
    haze_to(position, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(mix(position, eye.xyz, LAYER_SHARE * surface.y), 1.0);
#ifdef ROOM
    // Who looks in from above sees no roof.
    if (kind == ROOF && eye.z > room.z - 1.6) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
#endif
}
