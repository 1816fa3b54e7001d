// Scene light to display, at its own size: glow, vignette, exposure, AgX, and half a step of noise against banding.
#include "agx.glsl"

in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;
#ifdef BLOOM
uniform sampler2D bloom_map;
#endif
uniform ivec2 origin;
uniform float exposure;

void main() {
    vec4 lit = texelFetch(source_map, ivec2(gl_FragCoord.xy) - origin, 0);
    vec3 c = lit.rgb;
#ifdef BLOOM
    c = mix(c, textureLod(bloom_map, uv, 0.0).rgb, 0.05);
#endif
    vec2 off = uv - 0.5;
    c = agx(c * (1.0 - 0.55 * dot(off, off)) * exposure);
    float noise = fract(52.9829189 * fract(dot(gl_FragCoord.xy, vec2(0.06711056, 0.00583715))));
    c += (noise - 0.5) / 255.0;
    colour = vec4(c, lit.a < 0.0 ? 1.0 : 0.0);  // where the carried vehicle is
}
