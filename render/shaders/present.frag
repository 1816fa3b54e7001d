// The finished picture: smoothed along its edges (FXAA), or carried over to another size.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
uniform vec2 texel;

vec3 fetch(vec2 at) { return textureLod(source_map, at, 0.0).rgb; }

#ifdef FXAA
const float SHARPNESS = 1.2;  // where the picture is scaled up, against the blur that this brings
const vec3 LUMA = vec3(0.299, 0.587, 0.114);

float luma(ivec2 at) { return texelFetch(source_map, at, 0).a; }  // tonemap.frag leaves it there

vec3 smoothed(vec2 at) {
    ivec2 here = ivec2(at / texel), last = textureSize(source_map, 0) - 1;
    vec4 middle = texelFetch(source_map, here, 0);
    ivec2 low_side = max(here - 1, ivec2(0)), high_side = min(here + 1, last);
    float nw = luma(low_side), ne = luma(ivec2(high_side.x, low_side.y));
    float sw = luma(ivec2(low_side.x, high_side.y)), se = luma(high_side);
    float low = min(middle.a, min(min(nw, ne), min(sw, se))), high = max(middle.a, max(max(nw, ne), max(sw, se)));
    if (high - low < max(0.03, high * 0.1)) {
#ifdef SHARPEN
        float lift = middle.a - 0.25 * (nw + ne + sw + se);
        return middle.rgb + clamp(SHARPNESS * lift, -0.05, 0.05);
#else
        return middle.rgb;
#endif
    }
    vec2 along = vec2(-((nw + ne) - (sw + se)), (nw + sw) - (ne + se));
    float damp = max((nw + ne + sw + se) * 0.03125, 0.0078);
    along = clamp(along / (min(abs(along.x), abs(along.y)) + damp), -8.0, 8.0) * texel;
    vec3 near_mean = 0.5 * (fetch(at - along / 6.0) + fetch(at + along / 6.0));
    vec3 wide_mean = near_mean * 0.5 + 0.25 * (fetch(at - along * 0.5) + fetch(at + along * 0.5));
    float wide = dot(wide_mean, LUMA);
    return wide < low || wide > high ? near_mean : wide_mean;
}
#endif

#ifdef ENLARGED
const float LIFT = 2.5, MOST = 0.1;  // by which what three looks about a place leave out stands out more
const vec2 ABOUT[3] = vec2[](vec2(0.0, 0.85), vec2(0.74, -0.42), vec2(-0.74, -0.42));  // of them, in source pixels
#endif

void main() {
#ifdef FXAA
    colour = vec4(smoothed(uv), 1.0);
#elif defined(SAME_SIZE)
    colour = vec4(texelFetch(source_map, ivec2(uv * vec2(textureSize(source_map, 0))), 0).rgb, 1.0);
#elif defined(ENLARGED)
    vec2 pixel = 1.0 / vec2(textureSize(source_map, 0));
    vec3 here = fetch(uv), about = fetch(uv + ABOUT[0] * pixel) + fetch(uv + ABOUT[1] * pixel) + fetch(uv + ABOUT[2] * pixel);
    colour = vec4(here + clamp(LIFT * (here - about / 3.0), -MOST, MOST), 1.0);
#else
    colour = vec4(fetch(uv), 1.0);
#endif
}
