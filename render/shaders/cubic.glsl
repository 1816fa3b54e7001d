// A picture between its pixels, by a cubic a step sharper than Catmull-Rom's, without its corners, by five looks between
// pixels: a bilinear one blurs.
vec4 cubic(sampler2D picture, vec2 at) {
    vec2 size = vec2(textureSize(picture, 0)), place = at * size, middle = floor(place - 0.5) + 0.5, f = place - middle;
    vec2 w0 = f * (f * (2.0 - f) - 1.0), w3 = f * f * (f - 1.0);
    vec2 w2 = f * (1.0 + f * (1.0 - f)), w12 = 1.0 - w0 - w3;
    vec2 p0 = (middle - 1.0) / size, p12 = (middle + w2 / w12) / size, p3 = (middle + 2.0) / size;
    vec4 sum = textureLod(picture, p12, 0.0) * (w12.x * w12.y)
        + textureLod(picture, vec2(p12.x, p0.y), 0.0) * (w12.x * w0.y) + textureLod(picture, vec2(p12.x, p3.y), 0.0) * (w12.x * w3.y)
        + textureLod(picture, vec2(p0.x, p12.y), 0.0) * (w0.x * w12.y) + textureLod(picture, vec2(p3.x, p12.y), 0.0) * (w3.x * w12.y);
    return sum / (w12.x * w12.y + w12.x * (w0.y + w3.y) + (w0.x + w3.x) * w12.y);
}
