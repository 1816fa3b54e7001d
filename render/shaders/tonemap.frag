// Scene light to display: glow, vignette, exposure, AgX, and half a step of noise against banding.
#include "agx.glsl"

in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
#ifdef BLOOM
uniform sampler2D bloom_map;
#endif
#ifndef CARRIED
uniform ivec2 origin;
#endif
uniform float exposure;

void main() {
#ifdef CARRIED
    // Bilinear, but steeper between the pixels: an enlarged edge stays an edge.
    const float STEEPNESS = 1.5;
    vec2 size = vec2(textureSize(source_map, 0)), at = uv * size - 0.5, whole = floor(at);
    vec2 part = clamp((at - whole - 0.5) * STEEPNESS + 0.5, 0.0, 1.0);
    vec3 c = textureLod(source_map, (whole + 0.5 + part) / size, 0.0).rgb;
#else
    vec3 c = texelFetch(source_map, ivec2(gl_FragCoord.xy) - origin, 0).rgb;  // of the same size
#endif
#ifdef BLOOM
    c = mix(c, textureLod(bloom_map, uv, 0.0).rgb, 0.05);
#endif
    vec2 off = uv - 0.5;
    c = agx(c * (1.0 - 0.55 * dot(off, off)) * exposure);
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    c += (noise - 0.5) / 255.0;
#ifdef ADDED_UP
    colour = vec4(c, texelFetch(source_map, ivec2(gl_FragCoord.xy), 0).a < 0.0 ? 1.0 : 0.0);
#else
    colour = vec4(c, dot(c, vec3(0.299, 0.587, 0.114)));
#endif
}
