// Light that the ripples of water gather on what lies below.
uniform sampler2D slope_map;

const float CAUSTIC_TILE_M = 4.2;   // of the ripples that bend it
const float CAUSTIC_SHARP_M = 0.03;  // of what it falls on

// How the ripples' slopes change over texels that grow with the sun's disc and with the pixel: along x, along y, across.
vec3 bends(vec2 at, float level) {
    float texel = exp2(level) / float(textureSize(slope_map, 0).x);
    vec2 along_x = textureLod(slope_map, at + vec2(texel, 0.0), level).xy - textureLod(slope_map, at - vec2(texel, 0.0), level).xy;
    vec2 along_y = textureLod(slope_map, at + vec2(0.0, texel), level).xy - textureLod(slope_map, at - vec2(0.0, texel), level).xy;
    return vec3(along_x.x, along_y.y, along_x.y);
}

// Sunlight at p beside what falls on it where the surface, so far above, is flat; about 1 in the mean. Rays are bent by a
// share of the slope: a patch of them is as large below as the determinant of one less what the slopes change. Ripples finer
// than `blur_m` are left out.
float caustics(vec3 p, float surface_m, float blur_m) {
    float depth = surface_m - p.z;
    vec2 bent = sun_direction.xy / 1.333;
    vec2 above = p.xy + max(depth, 0.0) * bent * inversesqrt(max(1.0 - dot(bent, bent), 0.1));
    float texels = float(textureSize(slope_map, 0).x) / CAUSTIC_TILE_M;
    vec3 upward = vec3(clip_from_world[0][1], clip_from_world[1][1], clip_from_world[2][1]);
    float pixel_m = distance(p, eye.xyz) * 2.0 * viewport.w / length(upward);
    float level = max(log2(max(pixel_m, blur_m + 0.01 * depth) * texels), 0.0);
    vec2 at = above / CAUSTIC_TILE_M;
    vec3 b = bends(at + 0.021 * eye.w, level) + bends(0.77 * at.yx - vec2(0.017, -0.026) * eye.w, level).yxz;
    b *= 3.2 * smoothstep(0.0, 1.0, depth);
    float patch_left = abs((1.0 - b.x) * (1.0 - b.y) - b.z * b.z);
    float seen = exp(-0.12 * depth) / (1.0 + 8.0 * pixel_m) * smoothstep(0.0, 0.5, depth);
    float gathered = 1.25 / ((0.25 + patch_left) * (1.0 + 0.4 * dot(b, b)));  // on the whole no more than there is
    return mix(1.0, gathered, 0.8 * seen);
}
