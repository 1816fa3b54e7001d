// Waves by stationary phase (render/vehicles/wake.py), the foam of bow and screws, and the air that these leave in the water.
in float phase_on_course;
in vec2 off;
in vec2 course;
in float speed_mps;
in float age_s;
out vec4 mark;  // slope of the surface along world x and y, foam, air

uniform vec2 hull;      // length, half beam [m]
uniform float texel_m;

const float GRAVITY = 9.81, LEAST_SPEED = 0.7, PI = 3.14159265;
const float HEIGHT_M = 0.32;  // of the waves of a hull at speed, halved
const float EDGE = 0.35355;   // of the wedge

// Slope (behind, outwards) of the wave that runs at tan(angle) = t to the course.
vec2 wave(float t, float number, vec2 at) {
    float secant = sqrt(1.0 + t * t);
    float phase = phase_on_course + number * ((at.x - at.y * t) * secant - at.x);
    vec2 k = number * secant * vec2(1.0, -t);
    float finest = PI / (2.5 * texel_m);
    return k * cos(phase) * exp(-dot(k, k) / (finest * finest));
}

void main() {
    float number = GRAVITY / max(speed_mps * speed_mps, LEAST_SPEED * LEAST_SPEED);
    vec2 at = vec2(max(off.x, 0.02), abs(off.y));
    float ratio = at.y / at.x;
    float root = sqrt(max(1.0 - 8.0 * ratio * ratio, 0.0));
    float along = 2.0 * ratio / (1.0 + root), aside = min((1.0 + root) / max(4.0 * ratio, 1e-3), 6.0);
    float beyond = max(ratio - EDGE, 0.0) / 0.04;
    float height = HEIGHT_M * smoothstep(0.5, 3.2, speed_mps) * exp(-age_s / 6.0) * smoothstep(0.3, 1.6, at.x)
        * pow(max(number * at.x, 1.0), -0.4) * exp(-beyond * beyond) * (1.0 + 1.4 * exp(-10.0 * root * root));
    vec2 slope = wave(along, number, at) * 0.55 + wave(aside, number, at) * exp(-0.5 * (aside - 0.7) * (aside - 0.7));
    slope *= height;
    vec2 left = vec2(-course.y, course.x);

    float aft = max(off.x - hull.x, 0.0), there = smoothstep(hull.x - 0.5, hull.x + 0.4, off.x);
    float width = hull.y * (0.58 + 0.14 * sqrt(aft));
    float strip = exp(-at.y * at.y / (width * width)) * there * smoothstep(0.3, 2.6, speed_mps);
    float side = hull.y * sqrt(min(off.x / 1.6, 1.0)) + 0.05 + 0.24 * max(off.x - 0.8, 0.0);
    float thick = 0.14 + 0.07 * off.x;
    float bow = exp(-(at.y - side) * (at.y - side) / (thick * thick)) * exp(-off.x / (1.1 * hull.x))
        * smoothstep(0.0, 0.4, off.x) * smoothstep(0.9, 3.0, speed_mps);
    float foam = max(strip * exp(-age_s / 3.0), bow * 0.9);
    mark = vec4(slope.x * -course + slope.y * sign(off.y) * left, foam, strip * exp(-age_s / 6.0) + 0.4 * bow);
}
