// Drops that fly: points as large as they are.
#include "sky.glsl"

in vec3 place;

out vec3 p_w;
out vec3 transmittance;
out vec3 inscatter;
out float share;  // of a drop's light where it is smaller than a pixel

uniform float drop_m;

void main() {
    p_w = place;
    haze_to(place, transmittance, inscatter);
    gl_Position = clip_from_world * vec4(place, 1.0);
    float size = drop_m * viewport.y * length(vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1])) / max(gl_Position.w, 0.1);
    gl_PointSize = clamp(size, 1.5, 40.0);
    share = clamp(size * size / (1.5 * 1.5), 0.1, 1.0);
}
