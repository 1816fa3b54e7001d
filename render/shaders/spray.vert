// Drops that fly: points as large as they are.
#include "flying.glsl"

in vec3 place;

out float depth_m;
out float share;  // of a drop where it is smaller than its point

uniform float drop_m;
uniform float high_px;

void main() {
    gl_Position = clip_from_world * vec4(place, 1.0);
    depth_m = max(gl_Position.w, 0.1);
    float size = point_px(drop_m, high_px, depth_m);
    gl_PointSize = clamp(size, 1.5, 64.0);
    share = clamp(size * size / 2.25, 0.05, 1.0);
}
