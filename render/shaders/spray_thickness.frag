// How thick a drop is where it is looked through.
in float share;
out vec4 thickness;

uniform float drop_m;

void main() {
    vec2 at = gl_PointCoord * 2.0 - 1.0;
    float r2 = dot(at, at);
    if (r2 > 1.0) discard;
    thickness = vec4(0.0, 2.0 * drop_m * sqrt(1.0 - r2) * share, 0.0, 0.0);
}
