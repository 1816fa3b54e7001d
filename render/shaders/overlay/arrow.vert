// An arrow from `origin` along `vector`, as thick as its distance asks for.
#include "frame.glsl"

in vec3 position, normal;
in float head;
in vec3 origin, vector, arrow_colour;

out vec3 p_w, n_w, tone;

const float THICKNESS = 0.0030;  // shaft radius per metre of distance
const float HEAD = 7.0;          // head length in shaft radii

void main() {
    float size = length(vector);
    vec3 z = vector / size;
    vec3 x = normalize(cross(z, abs(z.z) < 0.9 ? vec3(0.0, 0.0, 1.0) : vec3(1.0, 0.0, 0.0)));
    vec3 y = cross(z, x);
    float radius = min(THICKNESS * distance(eye.xyz, origin), 0.06 * size);
    float head_m = HEAD * radius;
    float along = head > 0.5 ? size - head_m + position.z * head_m : position.z * (size - head_m);
    p_w = origin + radius * (position.x * x + position.y * y) + along * z;
    n_w = normal.x * x + normal.y * y + normal.z * z;
    tone = arrow_colour;
    gl_Position = clip_from_world * vec4(p_w, 1.0);
}
