// Pictures of successive moments, each drawn a part of a pixel apart, added up at the size of the window: what was
// there before is looked up where it has come from, and kept within what is there now.
#include "cubic.glsl"

in vec2 uv;
out vec4 colour;  // alpha: how much has been added up, by MOST

uniform sampler2D source_map;   // encoded, smaller; alpha 1 where the carried vehicle is seen
uniform sampler2D history_map;
#if !STILL
uniform sampler2D depth_map;    // of the same size
uniform mat4 before;            // from here and now to the picture before, both -1..1
uniform mat4 before_carried;    // of what goes with the vehicle
#endif
uniform vec2 shift;             // by which the source was drawn apart, in its pixels
uniform float spread;           // pixels of the window in one of the source
uniform bool begins;            // there is nothing before

const float MOST = 8.0;         // samples of the past that are kept where nothing moves on the screen
const float LEAST = 1.1;        // likewise where it moves by PACE pixels: every look into the past blurs it
const float PACE = 3.0;
const float LEAST_EDGE = 4.0;   // the least on an edge, which steps else

void main() {
    vec2 size = vec2(textureSize(source_map, 0)), at = uv * size + shift;
    ivec2 here = clamp(ivec2(at), ivec2(1), ivec2(size) - 2);
    vec4 middle = texelFetch(source_map, here, 0);
    vec4 east = texelFetch(source_map, here + ivec2(1, 0), 0), west = texelFetch(source_map, here - ivec2(1, 0), 0);
    vec4 north = texelFetch(source_map, here + ivec2(0, 1), 0), south = texelFetch(source_map, here - ivec2(0, 1), 0);
    vec4 low = min(middle, min(min(east, west), min(north, south)));
    vec4 high = max(middle, max(max(east, west), max(north, south)));

#if STILL  // neither the eye nor the vehicle has moved
    vec4 past = texelFetch(history_map, ivec2(gl_FragCoord.xy), 0);
    bool known = !begins;
    float pace = 0.0;
#else
    vec4 now = vec4(uv * 2.0 - 1.0, texelFetch(depth_map, here, 0).r * 2.0 - 1.0, 1.0);
    // The vehicle's edge goes with it: half of its pixels are of what is behind.
    vec4 then = high.a > 0.5 ? before_carried * now : before * now;
    vec2 from = then.xy / then.w * 0.5 + 0.5;
    vec4 past = cubic(history_map, from);
    bool known = all(equal(clamp(from, 0.0, 1.0), from)) && !begins;
    float pace = smoothstep(0.0, PACE, length((from - uv) * vec2(textureSize(history_map, 0))));
#endif
    vec3 kept = clamp(past.rgb, low.rgb, high.rgb);
    vec3 off = abs(past.rgb - kept);
    vec3 range = high.rgb - low.rgb;
    float edge = smoothstep(0.1, 0.4, max(range.r, max(range.g, range.b)));
    // What is looked up between pixels may swing below nothing.
    float amount = min(max(past.a, 0.0) * MOST, mix(MOST, mix(LEAST, LEAST_EDGE, edge), pace)) * max(1.0 - 3.0 * max(off.r, max(off.g, off.b)), 0.0);
    amount = known ? amount : 0.0;

    vec2 apart = at - vec2(here) - 0.5;
    float share = exp2(-1.5 * spread * spread * dot(apart, apart));
    // Where nothing is known of before, what lies between the samples is between their colours.
    vec3 between = middle.rgb + abs(apart.x) * ((apart.x > 0.0 ? east : west).rgb - middle.rgb)
        + abs(apart.y) * ((apart.y > 0.0 ? north : south).rgb - middle.rgb);
    vec3 fresh = mix(between, middle.rgb, min(amount, 1.0));
    colour = vec4(mix(kept, fresh, share / (share + amount)), min((amount + share) / MOST, 1.0));
}
