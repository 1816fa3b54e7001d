// Drops that fly: points as large as they are.
#include "frame.glsl"

in vec3 place;

out float depth_m;
out float share;  // of a drop where it is smaller than its point

uniform float drop_m;
uniform float high_px;

void main() {
    gl_Position = clip_from_world * vec4(place, 1.0);
    depth_m = max(gl_Position.w, 0.1);
    float scale = length(vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]));
    float size = drop_m * high_px * scale / depth_m;
    gl_PointSize = clamp(size, 1.5, 64.0);
    share = clamp(size * size / 2.25, 0.05, 1.0);
}
