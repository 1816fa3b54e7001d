// One over the depth of a drop's near side.
in float depth_m;
out vec4 nearest;

uniform float drop_m;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float r2 = dot(at, at);
    if (r2 > 1.0) discard;
    nearest = vec4(1.0 / max(depth_m - drop_m * sqrt(1.0 - r2), 0.05), 0.0, 0.0, 0.0);
}
