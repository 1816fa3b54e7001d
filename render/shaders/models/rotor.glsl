// Share of the shutter time for which a blade covers a point of a rotor disc.
uniform vec4 blades;  // count, chord in m, azimuth of the first, angle swept by the shutter

const float HAZE = 0.030;  // what the eye keeps of blades that have passed

float blade_cover(float radius_m, float azimuth) {
    float pitch = 2.0 * PI / blades.x;
    float chord = min(blades.y / radius_m, pitch);
    float sweep = blades.w;
    float behind = mod(blades.z - azimuth, pitch);           // how far the last blade is past this point
    float ahead = behind - pitch;                            // the next one, still to come
    float soft = 0.03 + 0.12 * sweep;
    float peak = min(1.0, chord / sweep);
    float width = max(chord, sweep) * 0.5;
    float last = smoothstep(width + soft, width - soft, abs(behind - width));
    float next = smoothstep(width + soft, width - soft, abs(ahead - width));
    return clamp(HAZE + peak * max(last, next), 0.0, 0.92);
}
