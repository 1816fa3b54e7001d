// A point of a polyline, moved sideways on the screen by half its width.
#include "frame.glsl"

in vec3 point, previous, next;
in float side, alpha;
in vec3 line_colour;

uniform float half_width_px;

out vec3 p_w, tone;
out float opacity;
noperspective out float across_px;

const float NEAR_W = 0.05;

// A neighbour behind the eye is brought in front of it, along the segment.
vec4 before_eye(vec4 from, vec4 to) {
    if (to.w >= NEAR_W || from.w <= NEAR_W) return to;
    return mix(from, to, (from.w - NEAR_W) / (from.w - to.w));
}

vec2 heading(vec4 a, vec4 b) {
    vec2 way = (b.xy / max(b.w, NEAR_W) - a.xy / max(a.w, NEAR_W)) * viewport.xy;
    float size = length(way);
    return size > 1e-4 ? way / size : vec2(1.0, 0.0);
}

void main() {
    vec4 here = clip_from_world * vec4(point, 1.0);
    vec2 entering = heading(before_eye(here, clip_from_world * vec4(previous, 1.0)), here);
    vec2 leaving = heading(here, before_eye(here, clip_from_world * vec4(next, 1.0)));
    vec2 along = entering + leaving;
    along = dot(along, along) > 1e-4 ? normalize(along) : leaving;
    float stretch = 1.0 / max(dot(along, leaving), 0.5);
    float reach = half_width_px + 1.0;
    vec2 offset = vec2(-along.y, along.x) * side * reach * stretch;
    here.xy += offset * 2.0 * viewport.zw * here.w;
    across_px = side * reach;
    p_w = point;
    tone = line_colour;
    opacity = alpha;
    gl_Position = here;
}
