// Only its depth is drawn: where sea_place.frag has left something to be shaded.
uniform sampler2D sea_place_map;
out vec4 colour;

void main() {
    if (texelFetch(sea_place_map, ivec2(gl_FragCoord.xy), 0).z <= 0.0) discard;
    colour = vec4(0.0);
}
