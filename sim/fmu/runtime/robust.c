/* What kernels call where plain Newton does not converge: the solver of sim/compiler/robust.py, in C.

   Newton with backtracking on the residual; where that stalls the solution is continued in h from zero. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#define MOST_SWEEPS 40
#define MOST_HALVINGS 12
#define LEAST_STRIDE 1e-6
#define NEWTON_TOLERANCE 1e-9

typedef int64_t (*code)(void **table, int64_t n);

/* J d = r by elimination with partial pivoting, J row after row; d replaces r. 0: singular. */
static int eliminated(double *J, double *r, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabs(J[i * n + k]) > fabs(J[pivot * n + k])) pivot = i;
        if (!(fabs(J[pivot * n + k]) > 0.0)) return 0;
        if (pivot != k) {
            for (int64_t j = 0; j < n; j++) {
                double x = J[k * n + j];
                J[k * n + j] = J[pivot * n + j];
                J[pivot * n + j] = x;
            }
            double x = r[k];
            r[k] = r[pivot];
            r[pivot] = x;
        }
        for (int64_t i = k + 1; i < n; i++) {
            double factor = J[i * n + k] / J[k * n + k];
            for (int64_t j = k + 1; j < n; j++) J[i * n + j] -= factor * J[k * n + j];
            r[i] -= factor * r[k];
        }
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < n; j++) r[k] -= J[k * n + j] * r[j];
        r[k] /= J[k * n + k];
    }
    return 1;
}

static double largest(const double *r, int64_t n) {
    double out = 0.0;
    for (int64_t k = 0; k < n; k++) {
        if (!isfinite(r[k])) return INFINITY;
        out = fmax(out, fabs(r[k]));
    }
    return out;
}

int64_t holonomy_solve(int64_t J, int64_t r, int64_t n) {
    return eliminated((double *)(intptr_t)J, (double *)(intptr_t)r, n);
}

int64_t holonomy_settle(int64_t equations_at, int64_t guess_at, int64_t unknowns, int64_t n, int64_t count, int64_t z_at,
                        int64_t y, int64_t u, int64_t w, int64_t p, int64_t work, double h) {
    code equations = (code)(intptr_t)equations_at, guess = (code)(intptr_t)guess_at;
    const int64_t *own = (const int64_t *)(intptr_t)unknowns;
    double *z = (double *)(intptr_t)z_at;
    void **table = (void **)(intptr_t)work;
    double *at = (double *)(intptr_t)(work + 64);
    double *trial = at + 1, *good = trial + count, *r = good + count, *before = r + n, *J = before + n;
    table[0] = trial, table[1] = (void *)(intptr_t)y, table[2] = (void *)(intptr_t)u;
    table[3] = (void *)(intptr_t)w, table[4] = (void *)(intptr_t)p;
    table[5] = at, table[6] = before, table[7] = J;
    *at = 0.0;
    guess(table, 0);
    memcpy(good, z, (size_t)count * sizeof *z);
    for (int64_t k = 0; k < n; k++) good[own[k]] = trial[own[k]];
    double reached = 0.0, stride = 1.0;
    int64_t used = 0;
    while (reached < 1.0) {
        double share = fmin(1.0, reached + stride);
        if (reached == 0.0 && share == 1.0) {
            *at = h;
            guess(table, 0);
            memcpy(z, good, (size_t)count * sizeof *z);
            for (int64_t k = 0; k < n; k++) z[own[k]] = trial[own[k]];
        } else {
            memcpy(z, good, (size_t)count * sizeof *z);
        }
        *at = share * h;
        memcpy(trial, z, (size_t)count * sizeof *z);
        equations(table, 0);
        memcpy(r, before, (size_t)n * sizeof *r);
        double error = largest(r, n);
        int solved = 0;
        for (int sweep = 0; sweep < MOST_SWEEPS && !solved; sweep++) {
            used++;
            if (!eliminated(J, r, n)) break;
            double change = 0.0, size = 1.0;
            for (int64_t k = 0; k < n; k++) change += fabs(r[k]), size += fabs(z[own[k]]);
            int small = change <= NEWTON_TOLERANCE * size, moved = 0;
            double scale = 1.0, tried = INFINITY;
            for (int halving = 0; halving < MOST_HALVINGS; halving++) {
                for (int64_t k = 0; k < n; k++) trial[own[k]] = z[own[k]] - scale * r[k];
                equations(table, 0);
                tried = largest(before, n);
                if (small || tried <= (1.0 - 0.1 * scale) * error) {
                    moved = 1;
                    break;
                }
                scale *= 0.5;
            }
            if (!moved) break;
            for (int64_t k = 0; k < n; k++) z[own[k]] = trial[own[k]], r[k] = before[k];
            error = tried;
            solved = small;
        }
        if (solved) {
            memcpy(good, z, (size_t)count * sizeof *z);
            reached = share;
            stride *= 2.0;
        } else {
            stride = stride == 1.0 ? 0.25 : 0.5 * stride;
            if (stride < LEAST_STRIDE) return -1;
        }
    }
    memcpy(z, good, (size_t)count * sizeof *z);
    return used;
}
