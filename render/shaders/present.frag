// The finished picture: smoothed along its edges (FXAA), which are found where things bend (MARK), or carried over to another size.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
uniform vec2 texel;

vec3 fetch(vec2 at) { return textureLod(source_map, at, 0.0).rgb; }

#ifdef MARK
uniform sampler2D depth_map;
const float BEND = 0.1;  // of the distance: what stands before something by more, or bends as much, has an edge there

// Depth is linear over the picture of a plane, however slanted.
bool bends(ivec2 here) {
    ivec2 last = textureSize(depth_map, 0) - 1, low = max(here - 1, ivec2(0)), high = min(here + 1, last);
    float z = texelFetch(depth_map, here, 0).r;
    vec2 before = vec2(texelFetch(depth_map, ivec2(low.x, here.y), 0).r, texelFetch(depth_map, ivec2(here.x, low.y), 0).r);
    vec2 after = vec2(texelFetch(depth_map, ivec2(high.x, here.y), 0).r, texelFetch(depth_map, ivec2(here.x, high.y), 0).r);
    vec2 bend = abs(before + after - 2.0 * z), nearest = min(before, after);
    return max(bend.x, bend.y) > BEND * (1.0 - min(z, min(nearest.x, nearest.y)));
}
#endif

#ifdef FXAA
const vec3 LUMA = vec3(0.299, 0.587, 0.114);
const int LOOKS = 9;
const float REACH[LOOKS] = float[](1.0, 2.0, 3.0, 4.0, 5.0, 6.5, 8.5, 11.5, 16.5);  // at which an edge's end is looked for, in pixels

float luma(vec2 at) { return dot(fetch(at), LUMA); }

// How far an edge goes on to one side: pixels, and how much brighter than its mean it is where it ends.
vec2 end_of(vec2 edge, vec2 along, float mean, float most) {
    vec2 found = vec2(0.0);
    for (int k = 0; k < LOOKS; ++k) {
        found = vec2(REACH[k], luma(edge + along * REACH[k]) - mean);
        if (abs(found.y) > most) break;
    }
    return found;
}

vec4 smoothed(vec2 at) {
    ivec2 here = ivec2(at / texel);
    vec4 middle = texelFetch(source_map, here, 0);
    at = (vec2(here) + 0.5) * texel;
    vec2 right = vec2(texel.x, 0.0), up = vec2(0.0, texel.y);
    float m = dot(middle.rgb, LUMA), n = luma(at + up), s = luma(at - up), e = luma(at + right), w = luma(at - right);
    float low = min(m, min(min(n, s), min(e, w))), high = max(m, max(max(n, s), max(e, w)));
    if (high - low < max(0.03, high * 0.1)) return middle;
    float ne = luma(at + up + right), nw = luma(at + up - right), se = luma(at - up + right), sw = luma(at - up - right);
    float over = 2.0 * abs(n + s - 2.0 * m) + abs(ne + se - 2.0 * e) + abs(nw + sw - 2.0 * w);
    float beside = 2.0 * abs(e + w - 2.0 * m) + abs(ne + nw - 2.0 * n) + abs(se + sw - 2.0 * s);
    bool level = over >= beside;
    float after = (level ? n : e) - m, before = (level ? s : w) - m;
    bool further = abs(after) >= abs(before);
    float step_up = further ? after : before, mean = m + 0.5 * step_up;
    vec2 along = level ? right : up, across = (level ? up : right) * (further ? 1.0 : -1.0), edge = at + 0.5 * across;
    vec2 one = end_of(edge, along, mean, 0.25 * abs(step_up)), other = end_of(edge, -along, mean, 0.25 * abs(step_up));
    vec2 nearer = one.x < other.x ? one : other;
    float shift = nearer.y * step_up > 0.0 ? 0.5 - nearer.x / (one.x + other.x) : 0.0;
    return textureLod(source_map, at + across * shift, 0.0);
}
#endif

#ifdef LIFTED
const float LIFT = 3.0, CARRIED = 1.2, MOST = 0.15;  // by which what the four pixels about one leave out stands out more; steps of a vehicle would, too
#endif

void main() {
#ifdef MARK
    ivec2 here = ivec2(gl_FragCoord.xy);
    if (texelFetch(source_map, here, 0).a < 0.5 && !bends(here)) discard;  // tonemap.frag leaves there where the vehicle is
    colour = vec4(0.0);
#elif defined(FXAA)
    colour = smoothed(uv);
#elif defined(COPY)
    colour = texelFetch(source_map, ivec2(gl_FragCoord.xy), 0);
#elif defined(SAME_SIZE)
    colour = vec4(texelFetch(source_map, ivec2(uv * vec2(textureSize(source_map, 0))), 0).rgb, 1.0);
#elif defined(LIFTED)
    ivec2 last = textureSize(source_map, 0) - 1, here = ivec2(gl_FragCoord.xy);
    ivec2 low = max(here - 1, ivec2(0)), high = min(here + 1, last);
    vec4 middle = texelFetch(source_map, here, 0);
    vec3 about = texelFetch(source_map, ivec2(high.x, here.y), 0).rgb + texelFetch(source_map, ivec2(low.x, here.y), 0).rgb
        + texelFetch(source_map, ivec2(here.x, high.y), 0).rgb + texelFetch(source_map, ivec2(here.x, low.y), 0).rgb;
    float lift = mix(LIFT, CARRIED, middle.a);
    colour = vec4(middle.rgb + clamp(lift * (middle.rgb - 0.25 * about), -MOST, MOST), 1.0);
#else
    colour = vec4(fetch(uv), 1.0);
#endif
}
