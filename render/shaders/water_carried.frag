// Water that was shaded once in two by two pixels, carried over to all that it is seen in.
out vec4 colour;

uniform sampler2D water_shaded_map;  // alpha negative where no water is

void main() {
    vec2 at = 0.5 * gl_FragCoord.xy - 0.5;
    ivec2 low = ivec2(floor(at)), last = textureSize(water_shaded_map, 0) - 1;
    vec2 part = at - floor(at);
    ivec2 first = max(low, ivec2(0)), second = min(low + 1, last);
    vec4 a = texelFetch(water_shaded_map, first, 0), b = texelFetch(water_shaded_map, ivec2(second.x, first.y), 0);
    vec4 c = texelFetch(water_shaded_map, ivec2(first.x, second.y), 0), d = texelFetch(water_shaded_map, second, 0);
    vec4 share = vec4((1.0 - part.x) * (1.0 - part.y), part.x * (1.0 - part.y), (1.0 - part.x) * part.y, part.x * part.y);
    share *= step(vec4(0.0), vec4(a.a, b.a, c.a, d.a));
    colour = (share.x * a + share.y * b + share.z * c + share.w * d) / max(dot(share, vec4(1.0)), 1e-4);
}
