// The finished picture into the window: FXAA at its own size, or resampled to the window's.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
uniform vec2 texel;

vec3 fetch(vec2 at) { return textureLod(source_map, at, 0.0).rgb; }
float luma(vec3 c) { return dot(c, vec3(0.299, 0.587, 0.114)); }

#ifdef FXAA
vec3 smoothed(vec2 at) {
    vec3 middle = fetch(at);
    float nw = luma(fetch(at + vec2(-1.0, -1.0) * texel)), ne = luma(fetch(at + vec2(1.0, -1.0) * texel));
    float sw = luma(fetch(at + vec2(-1.0, 1.0) * texel)), se = luma(fetch(at + vec2(1.0, 1.0) * texel));
    float here = luma(middle);
    float low = min(here, min(min(nw, ne), min(sw, se))), high = max(here, max(max(nw, ne), max(sw, se)));
    if (high - low < max(0.03, high * 0.1)) return middle;
    vec2 along = vec2(-((nw + ne) - (sw + se)), (nw + sw) - (ne + se));
    float damp = max((nw + ne + sw + se) * 0.03125, 0.0078);
    along = clamp(along / (min(abs(along.x), abs(along.y)) + damp), -8.0, 8.0) * texel;
    vec3 near_mean = 0.5 * (fetch(at - along / 6.0) + fetch(at + along / 6.0));
    vec3 wide_mean = near_mean * 0.5 + 0.25 * (fetch(at - along * 0.5) + fetch(at + along * 0.5));
    float wide = luma(wide_mean);
    return wide < low || wide > high ? near_mean : wide_mean;
}
#endif

#ifdef SHARPEN
// Bilinear with the blur of the enlargement taken back where neighbours differ little.
vec3 smoothed(vec2 at) {
    vec3 c = fetch(at);
    vec3 n = fetch(at + vec2(0.0, 0.75) * texel), s = fetch(at - vec2(0.0, 0.75) * texel);
    vec3 e = fetch(at + vec2(0.75, 0.0) * texel), w = fetch(at - vec2(0.75, 0.0) * texel);
    vec3 low = min(c, min(min(n, s), min(e, w))), high = max(c, max(max(n, s), max(e, w)));
    return clamp(c + (c - (n + s + e + w) * 0.25) * 0.9, low, high);
}
#endif

void main() {
#if defined(FXAA) || defined(SHARPEN)
    colour = vec4(smoothed(uv), 1.0);
#else
    colour = vec4(fetch(uv), 1.0);
#endif
}
