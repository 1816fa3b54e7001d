// Depths evened out along one axis with those that belong to the same sheet, and thickness with all.
in vec2 uv;
out vec4 smoothed;

uniform sampler2D depth_map;
uniform vec2 step_uv;

const int REACH = 4;
const float THICK = 0.25;  // m: more is not looked through, and would show far from its drops
const float SAME = 0.40;  // m of depth that drops of a sheet lie apart

void main() {
    vec2 middle = texture(depth_map, uv).rg;
    float depth = 0.0, thickness = 0.0, weight = 0.0, all = 0.0;
    for (int k = -REACH; k <= REACH; k++) {
        vec2 there = texture(depth_map, uv + float(k) * step_uv).rg;
        float w = exp(-float(k * k) / 4.5);
        thickness += w * min(there.g, THICK);
        all += w;
        if (there.r <= 0.0) continue;
        float off = middle.r > 0.0 ? (1.0 / there.r - 1.0 / middle.r) / SAME : 0.0;
        w *= exp(-off * off);
        depth += w * there.r;
        weight += w;
    }
    smoothed = vec4(weight > 0.0 ? depth / weight : 0.0, thickness / all, 0.0, 1.0);
}
