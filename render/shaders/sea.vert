// A point of the sea, displaced by the waves that the mesh can carry where it is.
#include "sky.glsl"
#include "sea_shape.glsl"

in vec2 at;  // ring and column, 0..1

out vec3 p_w;
out vec2 rest;    // where the point rests, m
out float rise;   // over the mean level, m
#if FULL_MATERIALS
out vec3 transmittance;
out vec3 inscatter;
#else
out vec4 veil;    // what haze adds, and the share of foam: both change less from vertex to vertex than is seen
uniform sampler2D sea_foam_map;
#endif
#ifdef HULLS
out vec3 hull_at[MOST_HULLS];  // the point in the frames of hulls

uniform mat4 hull_from_world[MOST_HULLS];
#endif

void main() {
    vec2 here = ring(at.x);
    float bearing = sea_wedge.z + at.y * sea_wedge.w;
    rest = eye.xy + here.x * vec2(cos(bearing), sin(bearing));
    vec3 shape = displacement(rest, here.y);
    rise = shape.z;
    p_w = vec3(rest + shape.xy, sea_level + shape.z - here.x * here.x / (2.0 * EARTH_M));
    vec2 uv;
    float splashing = in_box(p_w.xy, uv);
    if (splashing > 0.0) {
        p_w.z = mix(p_w.z, textureLod(box_map, uv, 0.0).x, splashing);
        rise = p_w.z - sea_level;
    }
#if FULL_MATERIALS
    haze_to(p_w, transmittance, inscatter);
#else
    vec3 transmittance, inscatter;
    haze_to(p_w, transmittance, inscatter);
    veil = vec4(inscatter, foam_of_caps(sea_foam_map, rest));
#endif
#ifdef HULLS
    for (int k = 0; k < MOST_HULLS; k++) hull_at[k] = (hull_from_world[k] * vec4(p_w, 1.0)).xyz;
#endif
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
