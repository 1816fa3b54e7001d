// A band of a hull's wake, seen from above in the map of what moves on the water.
in vec2 place;
in float phase;
in float behind;
in float aside;
in float speed;
in float age;
in vec2 ahead;
in vec4 pattern;    // Froude number of depth, slope of the wedge's edge, row of the table, k on the course
in float edge_tangent;

out float phase_on_course;
out vec2 off;       // behind the hull, to the left of its course [m]
out vec2 course;
out float speed_mps;
out float age_s;
out vec4 steady;
out float edge;

uniform vec4 window;  // xy centre of the map, z 1 / half its width

void main() {
    phase_on_course = phase;
    off = vec2(behind, aside);
    course = ahead;
    speed_mps = speed;
    age_s = age;
    steady = pattern;
    edge = edge_tangent;
    vec2 p = place + aside * vec2(-ahead.y, ahead.x);
    gl_Position = vec4((p - window.xy) * window.z, 0.0, 1.0);
}
