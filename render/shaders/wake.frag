// Waves by stationary phase (render/vehicles/wake.py), the foam of bow and screws, and the air that these leave in the water.
in float phase_on_course;
in vec2 off;
in vec2 course;
in float speed_mps;
in float age_s;
in vec4 steady;         // Froude number of depth, slope of the wedge's edge, row of the table, k on the course
in float edge;          // tangent at which waves run there
out vec4 mark;  // slope of the surface along world x and y, foam, air

uniform vec2 hull;      // length, half beam [m]
uniform float texel_m;
uniform sampler2D wave_table;  // by sqrt(1 - (slope over the edge's)^2) and row

const float GRAVITY = 9.81, LEAST_SPEED = 0.7, PI = 3.14159265;
const float HEIGHT_M = 0.32;  // of the waves of a hull at speed, halved

// Slope (behind, outwards) of the wave that runs at tan(angle) = t to the course; `tanh_kd` as the table has it.
vec2 wave(float t, float tanh_kd, float number, vec2 at) {
    float square = 1.0 + t * t, over = square / (steady.x * steady.x);
    float th = tanh(min(over * tanh_kd, 10.0));  // one of Newton's steps: between the table's rows k has to be right
    tanh_kd -= (tanh_kd - th) / max(1.0 - over * (1.0 - th * th), 0.05);
    float k = number * square * max(tanh_kd, 0.0), cosine = inversesqrt(square);
    float phase = phase_on_course + k * (at.x - at.y * t) * cosine - steady.w * at.x;
    vec2 slope = k * cosine * vec2(1.0, -t);
    float finest = PI / (2.5 * texel_m);
    return slope * cos(phase) * exp(-k * k / (finest * finest));
}

void main() {
    float number = GRAVITY / max(speed_mps * speed_mps, LEAST_SPEED * LEAST_SPEED);
    vec2 at = vec2(max(off.x, 0.02), abs(off.y));
    float over = at.y / (at.x * steady.y), root = sqrt(max(1.0 - over * over, 0.0));
    vec2 texels = vec2(textureSize(wave_table, 0));
    vec2 row = vec2(0.0, (steady.z + 0.5) / texels.y), column = vec2((0.5 + root * (texels.x - 1.0)) / texels.x, 0.0);
    float beyond = max(over - 1.0, 0.0) / 0.113;
    float height = HEIGHT_M * smoothstep(0.5, 3.2, speed_mps) * exp(-age_s / 6.0) * smoothstep(0.3, 1.6, at.x)
        * pow(max(number * at.x, 1.0), -0.4) * exp(-beyond * beyond) * (1.0 + 1.4 * exp(-10.0 * root * root));
    vec2 slope = vec2(0.0);
    if (height > 1e-4) {
        vec4 waves = textureLod(wave_table, row + column, 0.0);
        float aside = 1.0 / waves.y;
        if (aside < edge + 3.0)  // beyond that a hundredth is left of them
            slope = wave(aside, waves.w, number, at) * exp(-0.5 * (aside - edge) * (aside - edge));
        if (steady.x < 1.0) slope += wave(waves.x, waves.z, number, at) * 0.55;
    }
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
