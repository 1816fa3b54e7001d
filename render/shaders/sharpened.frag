// What has been added up, at its own size: sharpened by as much as adding up blurs.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;

const float SHARPNESS = 0.8, MOST = 0.08;

void main() {
    ivec2 size = textureSize(source_map, 0), here = clamp(ivec2(uv * vec2(size)), ivec2(1), size - 2);
    vec3 middle = texelFetch(source_map, here, 0).rgb;
    vec3 around = texelFetch(source_map, here + ivec2(1, 0), 0).rgb + texelFetch(source_map, here - ivec2(1, 0), 0).rgb
        + texelFetch(source_map, here + ivec2(0, 1), 0).rgb + texelFetch(source_map, here - ivec2(0, 1), 0).rgb;
    colour = vec4(middle + clamp(SHARPNESS * (middle - 0.25 * around), -MOST, MOST), 1.0);
}
