// Solid parts of a vehicle in sun, sky and the glow of the rock. UNTOUCHED: by a fall, by rain or other water.
#include "surface.glsl"
#include "shadow.glsl"
#include "models/surface_look.glsl"

uniform float carried;  // 1: its picture is looked for where the vehicle was (accumulate.frag)
#ifndef UNTOUCHED  // software GL works out what has no effect, too
uniform float scorch;
uniform vec4 wet;  // the water about it: height at the origin, slopes along x and y; w 1 where there is some

uniform vec4 film_rows[2];  // from the world to the plan of the deck, m
uniform vec4 film_size;     // m; zw how far what runs has come, m; 0 where nothing can come on deck
uniform sampler2D film_map;

in vec3 at_node;

// Dust and scrapes of the ground that it fell on; lamps and screens are out.
void batter(inout Look look, vec3 p) {
    float patchy = 0.5 + 0.5 * sin(p.x * 7.1 + 1.3 * sin(p.y * 5.3)) * sin(p.z * 6.7 + p.y * 3.1);
    float streaks = 0.5 + 0.5 * sin(p.z * 41.0 + 3.0 * sin(p.x * 3.1 + p.y * 2.3));
    float dusty = scorch * (0.18 + 0.42 * patchy + 0.15 * patchy * streaks);
    look.albedo = mix(look.albedo, vec3(0.20, 0.155, 0.11), dusty);
    look.metallic *= 1.0 - 0.7 * dusty;
    look.roughness = mix(look.roughness, 0.9, dusty);
    look.emission *= 0.0;
}

// Up to a ragged line above the water paint is dark and shines.
void drench(inout Look look, vec3 p) {
    float above = p.z - wet.x - dot(wet.yz, p.xy);
    float ragged = 0.03 * sin(p.x * 9.1 + 2.0 * sin(p.y * 6.3)) + 0.02 * sin(p.y * 17.0 - p.x * 13.0);
    float share = wet.w * (1.0 - smoothstep(0.05, 0.13, above + ragged));
    look.albedo *= 1.0 - 0.5 * share;
    look.roughness = mix(look.roughness, 0.08, share);
}

// Rain on what lies open to the sky, and what seas have thrown on deck: a film that shines, darker where it soaks in. It
// runs down in threads, and what lies flat has puddles, whose face the drops ruffle, and water that runs as the deck leans:
// the normal there.
vec3 soak(inout Look look, vec3 n) {
    vec2 shipped = vec2(0.0), plan = vec2(0.0);
    if (film_size.x > 0.0) {
        plan = vec2(dot(film_rows[0], vec4(p_w, 1.0)), dot(film_rows[1], vec4(p_w, 1.0)));
        shipped = texture(film_map, plan / film_size.xy).rg;
    }
    float flat_on = smoothstep(-0.1, 0.6, n.z), steep = 1.0 - abs(n.z), t = eye.w;
    float across = dot(at_node, vec3(29.0, 31.0, 3.0)), down = at_node.z * 2.2 + t * 1.9;
    float woven = sin(across + 0.9 * sin(down)) * sin(0.37 * across - 1.3 * sin(0.5 * down));
    float threads = steep * smoothstep(0.55 - 0.75 * shipped.g, 0.95, woven);
    float pools = 0.5 + 0.5 * sin(at_node.x * 4.3 + 1.7 * sin(at_node.y * 3.1)) * sin(at_node.y * 5.1 + at_node.x * 1.3);
    float puddles = smoothstep(0.35, 0.62, pools);
    float film = orbit.w * mix(open_share * (0.45 + 0.55 * threads), mix(0.45, 1.0, puddles), flat_on);
    film = max(film, mix(shipped.g * (0.6 + 0.4 * threads), max(shipped.g, shipped.r), flat_on));
    look.albedo *= 1.0 - 0.45 * film * (1.0 - look.metallic);
    look.roughness = mix(look.roughness, 0.05, film);
    vec2 ruffled = vec2(sin(at_node.x * 31.0 + 2.0 * sin(at_node.y * 13.0 + 1.7 * t) + 5.1 * t),
                        sin(at_node.y * 37.0 + 2.0 * sin(at_node.x * 11.0 - 1.3 * t) - 4.3 * t));
    vec3 bent = vec3(0.07 * orbit.w * film * puddles * flat_on * ruffled, 0.0);
    vec2 carried_on = plan - film_size.zw;
    vec2 runs = vec2(sin(dot(carried_on, vec2(23.0, 7.0)) + 1.7 * sin(9.0 * carried_on.y)),
                     sin(dot(carried_on, vec2(-6.0, 27.0)) + 1.7 * sin(8.0 * carried_on.x)));
    bent += 0.16 * shipped.r * (film_rows[0].xyz * runs.x + film_rows[1].xyz * runs.y) * flat_on;
    bent += 0.10 * shipped.g * steep * threads * (film_rows[0].xyz + film_rows[1].xyz);
    // Water that has just come over is white with air, in lace that runs along.
    float lace = smoothstep(0.35, 0.9, shipped.r + 0.35 * runs.x * runs.y) * flat_on;
    look.albedo = mix(look.albedo, vec3(0.62, 0.66, 0.66), 0.55 * lace);
    look.roughness = mix(look.roughness, 0.35, 0.6 * lace);
    return normalize(n + bent);
}
#endif

out vec4 colour;

void main() {
    if (clipped(p_w)) discard;
    Look look = look_here();
#ifndef UNTOUCHED
    if (wet.w > 0.0) drench(look, p_w);
#endif
    vec3 v = normalize(eye.xyz - p_w);
    vec3 n = normalize(n_w);
#ifndef UNTOUCHED
    if (orbit.w > 0.0 || film_size.x > 0.0) n = soak(look, n);
    if (scorch > 0.0) batter(look, p_w);
#endif
    vec3 l = sun_direction.xyz;
    float nl = max(dot(n, l), 0.0);
    float lit = nl > 0.0 ? sun_visibility(p_w, n) : 0.0;
    float nv = clamp(dot(n, v), 0.0, 1.0);
    float open = open_share;
    float alpha = max(look.roughness * look.roughness, 0.01);

    vec3 f0 = mix(vec3(0.04), look.albedo, look.metallic);
    vec3 fresnel = f0 + (max(vec3(1.0 - look.roughness), f0) - f0) * pow(1.0 - nv, 5.0);
    vec3 sky = sky_irradiance(n) * open;
    vec3 bounce = land_light() * (0.10 + 0.32 * saturate(0.5 - 0.5 * n.z)) * open;
    vec3 diffuse = look.albedo * (1.0 - look.metallic) / PI * (sun_irradiance.rgb * nl * lit + sky + bounce);

    float seen = saturate(open * 1.35 - 0.25);
    vec3 mirror_light = mix(environment(reflect(-v, n), look.roughness), (sky + bounce) / PI, alpha);
    float glint = lit > 0.0 ? ggx(n, v, l, 0.04, alpha) : 0.0;
    vec3 glint_colour = mix(vec3(1.0), look.albedo / 0.04 * 0.8, look.metallic);
    vec3 specular = fresnel * mirror_light * seen + sun_irradiance.rgb * lit * glint * glint_colour;

    vec3 light = diffuse + specular + look.emission;
#if FULL_MATERIALS
    colour = vec4(light * clearness + veil, distance(p_w, eye.xyz));
#else
    colour = vec4(light * clearness + veil, 1.0 - 2.0 * carried);
#endif
}
