// Where drops have struck the sea: rings that widen and die, lying on the waves.
#include "rain.glsl"
#include "sea_shape.glsl"

out vec3 p_w;
out vec2 at;
out float age;    // 0..1
out float share;

const float SPAN_M = 26.0, LIFE_S = 0.55, REACH_M = 0.17, ABOVE_M = 0.02;

void main() {
    float number = float(gl_VertexID / 6);
    vec3 seed = hashed(number);
    float clock = eye.w / LIFE_S + seed.z;
    age = fract(clock);
    seed = hashed(number + 0.37 * mod(floor(clock), 512.0));
    at = CORNERS[gl_VertexID % 6] * vec2(1.0, 2.0) - vec2(0.0, 1.0);
    vec2 middle = near_eye(seed, vec3(SPAN_M), vec3(0.0)).xy;
    vec2 rest = middle + REACH_M * at;
    p_w = vec3(rest, sea_level) + displacement(rest, 0.3) + vec3(0.0, 0.0, ABOVE_M);
    share = smoothstep(0.0, 0.2, orbit.w) * (1.0 - smoothstep(0.3, 0.5, length(middle - eye.xy) / SPAN_M));
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
