// AgX: Sobotka's matrices, Wrensch's polynomial, then a look (power, saturation). The result is display-encoded.
const float LOOK_POWER = 1.40, LOOK_SATURATION = 1.24;

const mat3 AGX_IN = mat3(0.842479062253094, 0.0423282422610123, 0.0423756549057051,
                         0.0784335999999992, 0.878468636469772, 0.0784336,
                         0.0792237451477643, 0.0791661274605434, 0.879142973793104);
const mat3 AGX_OUT = mat3(1.19687900512017, -0.0528968517574562, -0.0529716355144438,
                          -0.0980208811401368, 1.15190312990417, -0.0980434501171241,
                          -0.0990297440797205, -0.0989611768448433, 1.15107367264116);
const float MIN_EV = -12.47393, MAX_EV = 4.026069;

vec3 agx(vec3 linear_rgb) {
    vec3 c = log2(AGX_IN * max(linear_rgb, vec3(1e-8)));
    vec3 x = clamp((c - MIN_EV) / (MAX_EV - MIN_EV), 0.0, 1.0);
    vec3 x2 = x * x, x4 = x2 * x2;
    x = 15.5 * x4 * x2 - 40.14 * x4 * x + 31.96 * x4 - 6.868 * x2 * x + 0.4298 * x2 + 0.1191 * x - 0.00232;
    x = pow(max(x, 0.0), vec3(LOOK_POWER));
    float luma = dot(x, vec3(0.2126, 0.7152, 0.0722));
    return clamp(AGX_OUT * (luma + LOOK_SATURATION * (x - luma)), 0.0, 1.0);
}
