// What has been added up, at its own size: sharpened by as much as adding up blurs.
in vec2 uv;
out vec4 colour;

uniform sampler2D source_map;

const float SHARPNESS = 0.8, MOST = 0.08;
const vec2 ADDED = vec2(0.09, 0.20);  // of what has been added up: a single picture of fewer pixels has no more to show

void main() {
    ivec2 size = textureSize(source_map, 0), here = clamp(ivec2(uv * vec2(size)), ivec2(1), size - 2);
    vec4 middle = texelFetch(source_map, here, 0);
    vec3 around = texelFetch(source_map, here + ivec2(1, 0), 0).rgb + texelFetch(source_map, here - ivec2(1, 0), 0).rgb
        + texelFetch(source_map, here + ivec2(0, 1), 0).rgb + texelFetch(source_map, here - ivec2(0, 1), 0).rgb;
    float sharpness = SHARPNESS * smoothstep(ADDED.x, ADDED.y, middle.a);
    colour = vec4(middle.rgb + clamp(sharpness * (middle.rgb - 0.25 * around), -MOST, MOST), 1.0);
}
