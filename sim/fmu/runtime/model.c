/* A vehicle that is stepped: the same for all of them; its machine code comes from Holonomy's compiler. */
#include "model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of the kernel take a table of addresses and a number. */
extern int64_t rollout(void **table, int64_t n);
extern int64_t start(void **table, int64_t n);
extern int64_t outputs(void **table, int64_t n);
extern int64_t directional(void **table, int64_t n);

static const double NO_WRENCH[WRENCH_SIZE + 1];
static const double MULTIPLE = 1e-6; /* share of the step within which times count as multiples of it */

static void kept(void *owner, int status, const char *text) {
    (void)owner;
    (void)status;
    (void)text;
}

struct model *model_made(void *owner, void (*tell)(void *, int, const char *)) {
    struct model *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->owner = owner;
    m->tell = tell ? tell : kept;
    model_reset(m);
    return m;
}

void model_freed(struct model *m) { free(m); }

void model_reset(struct model *m) {
    memset(&m->now, 0, sizeof m->now);
    memcpy(m->now.values + P_AT, STARTS, sizeof(double) * (OUT_AT - P_AT));
}

int model_tell(struct model *m, int status, const char *format, ...) {
    char text[256];
    va_list given;
    va_start(given, format);
    vsnprintf(text, sizeof text, format, given);
    va_end(given);
    m->tell(m->owner, status, text);
    return status;
}

double model_time(const struct model *m) { return m->now.begin_s + (double)m->now.steps * STEP_S; }

/* Steps of a private state; node: that of the last step's start. Returns the status, `done` how many were made. */
static int64_t advanced(struct model *m, double *y, double *node, int64_t n, int64_t *done) {
    int64_t counts[2] = {0, 0};
    double h = STEP_S;
    void *table[] = {y, m->now.values + U_AT, (void *)NO_WRENCH, m->now.values + P_AT, &h, node, counts};
    int64_t status = rollout(table, n);
    *done = counts[0];
    return status;
}

/* Rotations that are given by their entries or as quaternions have to be some. */
static int turns(struct model *m) {
    for (size_t k = 0; k < ROTATIONS; k++) {
        const double *R = m->now.values + NODE_AT + ROTATION_AT[k];
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) {
                double product = R[3 * a] * R[3 * b] + R[3 * a + 1] * R[3 * b + 1] + R[3 * a + 2] * R[3 * b + 2];
                if (!(fabs(product - (a == b)) < 1e-6)) return 0;
            }
        if (R[0] * (R[4] * R[8] - R[5] * R[7]) - R[3] * (R[1] * R[8] - R[2] * R[7]) +
                R[6] * (R[1] * R[5] - R[2] * R[4]) <
            0.0)
            return 0;
    }
    for (size_t k = 0; k < QUATERNIONS; k++) {
        const double *x = m->now.values + NODE_AT + QUATERNION_AT[k];
        if (!(fabs(x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] - 1.0) < 1e-6)) return 0;
    }
    return 1;
}

/* The private state of the start, under the controls and parameters that are set by then. */
int model_begun(struct model *m) {
    double h = STEP_S, *v = m->now.values;
    if (!turns(m)) return model_tell(m, ERROR, "initial: a rotation is refused; allowed: R'R = 1, det R = 1, |q| = 1");
    void *table[] = {v + NODE_AT, v + U_AT, (void *)NO_WRENCH, v + P_AT, &h, m->now.y};
    if (start(table, 0)) return model_tell(m, ERROR, "initial: refused; allowed: loops that are open by 1 mm at most");
#if ADAPTIVE
    m->now.y[PRIVATE_SIZE - 2] = STEP_S;
    m->now.y[PRIVATE_SIZE - 1] = TOLERANCE;
#endif
    m->now.steps = 0;
    m->now.observed = 0;
    m->now.phase = STEPPING;
    return OK;
}

int model_step(struct model *m, double time_s, double step_s) {
    if (m->now.phase != STEPPING) return model_tell(m, ERROR, "doStep: refused before initialization is over");
    if (!(fabs(time_s - model_time(m)) <= MULTIPLE * STEP_S + 1e-12 * fabs(time_s)))
        return model_tell(m, ERROR, "doStep: from t = %.9g s is refused; the unit is at %.9g s", time_s, model_time(m));
    double wanted = (time_s + step_s - m->now.begin_s) / STEP_S;
    double whole = floor(wanted + 0.5);
    if (!(step_s >= 0.0) || !(fabs(wanted - whole) <= MULTIPLE + 1e-12 * fabs(wanted)) || fabs(whole) > 9e15)
        return model_tell(m, ERROR, "doStep: %.9g s is refused; allowed: multiples of %.9g s", step_s, STEP_S);
    int64_t n = (int64_t)whole - m->now.steps, done = 0;
    double node[NODE_SIZE];
    m->now.observed = 0;
    if (n <= 0) return OK;
    int64_t status = advanced(m, m->now.y, node, n, &done);
    m->now.steps += done;
    if (status)
        return model_tell(m, ERROR, "doStep: the step at t = %.9g s has no solution that is finite", model_time(m));
    return OK;
}

static int observed(struct model *m) {
    double y[PRIVATE_SIZE], node[NODE_SIZE], *v = m->now.values;
    int64_t done;
    if (m->now.observed) return OK;
    if (m->now.phase == STEPPING || m->now.phase == TERMINATED) {
        memcpy(y, m->now.y, sizeof y);
        advanced(m, y, node, 1, &done);
    } else {
        memcpy(node, v + NODE_AT, sizeof node);
    }
    void *table[] = {node, v + U_AT, v + P_AT, v + OUT_AT};
    outputs(table, 0);
    m->now.observed = 1;
    return OK;
}

int model_get(struct model *m, size_t at, size_t count, double *values) {
    m->now.values[0] = model_time(m);
    if (at + count > OUT_AT) observed(m);
    memcpy(values, m->now.values + at, count * sizeof *values);
    return OK;
}

int model_set(struct model *m, size_t at, size_t count, const double *values) {
    if (at < P_AT || at + count > OUT_AT) return model_tell(m, ERROR, "set: an output is refused; allowed: parameters, inputs");
    if (at < U_AT && m->now.phase > INITIALIZING)
        return model_tell(m, ERROR, "set: parameters are refused once initialization is over; allowed: inputs");
    for (size_t k = 0; k < count; k++)
        if (!isfinite(values[k])) return model_tell(m, ERROR, "set: a value that is not finite is refused");
    for (size_t k = 0; k < count && at + k < NODE_AT; k++)
        if (values[k] < LOW[at + k - P_AT] || values[k] > HIGH[at + k - P_AT])
            return model_tell(m, ERROR, "set: parameter %.9g is out of range; allowed: %g to %g", values[k],
                              LOW[at + k - P_AT], HIGH[at + k - P_AT]);
    memcpy(m->now.values + at, values, count * sizeof *values);
    m->now.observed = 0;
    return OK;
}

int model_directional(struct model *m, const double *du, const double *dp, double *dout) {
#if DIRECTIONAL
    double h = STEP_S, *v = m->now.values;
    void *table[] = {m->now.y, v + U_AT, (void *)NO_WRENCH, v + P_AT, &h, (void *)du, (void *)dp, dout};
    if (m->now.phase < STEPPING) return model_tell(m, ERROR, "derivatives: refused before initialization is over");
    return directional(table, 0) ? model_tell(m, ERROR, "derivatives: the step has no solution") : OK;
#else
    (void)du, (void)dp, (void)dout;
    return model_tell(m, ERROR, "derivatives: this method has none");
#endif
}
