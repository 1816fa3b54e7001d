// AgX: Sobotka's matrices, Wrensch's polynomial, then a look (power 1.40, saturation). The result is display-encoded.
const float LOOK_SATURATION = 1.24;

const mat3 AGX_IN = mat3(0.842479062253094, 0.0423282422610123, 0.0423756549057051,
                         0.0784335999999992, 0.878468636469772, 0.0784336,
                         0.0792237451477643, 0.0791661274605434, 0.879142973793104);
const mat3 AGX_OUT = mat3(1.19687900512017, -0.0528968517574562, -0.0529716355144438,
                          -0.0980208811401368, 1.15190312990417, -0.0980434501171241,
                          -0.0990297440797205, -0.0989611768448433, 1.15107367264116);
const float BRIGHTEST = 16.290849;  // 4.026 stops above 1: what is brighter is white

// Wrensch's polynomial of the stops, raised to the look's power, as a ratio of polynomials of the root: it is within a
// twelfth of a step of 8 bits of it, and no logarithm is taken.
vec3 curve(vec3 c) {
    vec3 t = sqrt(clamp(c, vec3(0.0), vec3(BRIGHTEST)));
    vec3 above = ((((1.373317 * t - 9.505254) * t + 263.779) * t - 15.00615) * t + 0.531169) * t - 0.005391425;
    vec3 below = ((((-2.047974 * t + 20.59835) * t + 158.1559) * t + 143.9588) * t + 15.66095) * t + 1;
    return max(above / below, 0.0);
}

vec3 agx(vec3 linear_rgb) {
    vec3 x = curve(AGX_IN * max(linear_rgb, vec3(0.0)));
    float luma = dot(x, vec3(0.2126, 0.7152, 0.0722));
    return clamp(AGX_OUT * (luma + LOOK_SATURATION * (x - luma)), 0.0, 1.0);
}
