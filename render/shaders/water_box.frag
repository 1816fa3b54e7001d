// What is seen through a box of water: Fresnel reflection, and the light that the water takes and gives on the way.
#include "surface.glsl"
#include "shadow.glsl"

in vec3 p_w;
in vec3 n_w;
in float white;  // foam of the surface; of what is seen through a pane, metres below the surface
in vec3 transmittance;
in vec3 inscatter;
out vec4 colour;

#include "noise_map.glsl"
uniform vec3 box_low;
uniform vec3 box_high;

const vec3 ABSORPTION = vec3(0.85, 0.24, 0.17);  // per m
const vec3 BODY = vec3(0.010, 0.085, 0.115);       // what deep water scatters back

// The way from p along d to where it leaves the box.
float way_out(vec3 p, vec3 d) {
    vec3 far = mix(box_low, box_high, step(vec3(0.0), d));
    vec3 t = (far - p) / mix(d, vec3(1e-4), lessThan(abs(d), vec3(1e-4)));
    return max(min(t.x, min(t.y, t.z)), 0.0);
}

void main() {
    vec3 v = normalize(eye.xyz - p_w);
    vec3 n = normalize(n_w);
    bool top = n.z > 0.2;
    float sun = sun_visibility(p_w, vec3(0.0, 0.0, 1.0));
    vec3 light = sky_irradiance(vec3(0.0, 0.0, 1.0)) * 0.8 + sun_irradiance.rgb * sun_direction.z * sun * 0.8;
    if (top) {
        vec2 fine = texture(noise_map, p_w.xy * 0.31 + vec2(0.011, 0.017) * eye.w).rg
            + texture(noise_map, p_w.yx * 0.83 - vec2(0.023, 0.015) * eye.w).ba - 1.0;
        n = normalize(n + vec3(fine * 0.09, 0.0));
    }
    vec3 ray = refract(-v, n, 1.0 / 1.33);
    float thickness = way_out(p_w - n * 0.01, ray);
    vec3 left = exp(-thickness * ABSORPTION);
    vec3 taken = 1.0 - left;
    float fresnel = top ? 0.02 + 0.98 * pow(1.0 - saturate(dot(n, v)), 5.0) : 0.0;
    vec3 r = reflect(-v, n);
    vec3 mirrored = environment(normalize(vec3(r.xy, abs(r.z))), 0.05);
    // Light falls in from above: water lower down is darker.
    float under = max(box_high.z - p_w.z, 0.0) * (top ? 0.0 : 0.16);
    vec3 body = BODY * light * exp(-under * vec3(1.0, 0.45, 0.35));
    float seen = dot(taken, vec3(0.2, 0.45, 0.35));
    vec3 glow = body * taken / max(seen, 1e-3);
    float alpha = fresnel + (1.0 - fresnel) * seen;
    vec3 c = (fresnel * mirrored + (1.0 - fresnel) * seen * glow) / max(alpha, 1e-3);
    if (top) {
        vec3 glint = sun_irradiance.rgb * ggx(n, v, sun_direction.xyz, 0.02, 0.12) * sun;
        c += glint / max(alpha, 0.15);
        float lace = 0.6 * texture(noise_map, p_w.xy * 0.55).g + 0.4 * texture(noise_map, p_w.yx * 1.7).r;
        float cover = saturate(smoothstep(0.72 - 0.5 * white, 1.0 - 0.42 * white, lace) + 0.35 * white) * saturate(3.0 * white);
        c = mix(c, 0.72 / PI * light, cover);
        alpha = mix(alpha, 1.0, 0.9 * cover);
    }
    if (!top) {
        // Where the surface meets the glass it stands a little, and shines.
        float wide = max(fwidth(white), 1e-4);
        float rim = saturate(0.5 + (0.025 - white) / wide) * min(0.05 / wide, 1.0);
        c = mix(c, 0.9 / PI * light, 0.7 * rim);
        alpha = mix(alpha, 1.0, 0.7 * rim);
    }
    colour = vec4(c * transmittance + inscatter, alpha);
}
