/* What the two versions of FMI ask of a vehicle: values in one flat array, steps, states. See model.c. */
#ifndef HOLONOMY_MODEL_H
#define HOLONOMY_MODEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "vehicle.h" /* sizes, tables and default values, written for each vehicle */

#if defined(_WIN32)
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

enum { OK = 0, WARNING = 1, DISCARD = 2, ERROR = 3, FATAL = 4 }; /* as both versions number them */
enum phase { INSTANTIATED, INITIALIZING, STEPPING, TERMINATED };

/* A flat array of all values: time, parameters, the start's node, controls, outputs. */
enum {
    P_AT = 1,
    NODE_AT = P_AT + PARAMETERS,
    U_AT = NODE_AT + NODE_SIZE,
    OUT_AT = U_AT + CONTROLS,
    VALUES = OUT_AT + OUTPUTS
};

/* All that a run goes on from: copied as a whole. */
struct state {
    double values[VALUES];
    double y[PRIVATE_SIZE];
    double begin_s;
    int64_t steps; /* done since begin_s, each STEP_S long: times are products, never sums */
    enum phase phase;
    int observed; /* whether the outputs in `values` are those of the state */
};

struct model {
    struct state now;
    void *owner;
    void (*tell)(void *owner, int status, const char *text);
};

struct model *model_made(void *owner, void (*tell)(void *, int, const char *));
void model_freed(struct model *m);
void model_reset(struct model *m);
int model_tell(struct model *m, int status, const char *format, ...);

double model_time(const struct model *m);
int model_begun(struct model *m);
int model_step(struct model *m, double time_s, double step_s);
int model_get(struct model *m, size_t at, size_t count, double *values);
int model_set(struct model *m, size_t at, size_t count, const double *values);
/* Derivatives of all outputs along directions of all parameters and controls, the state staying as it is. */
int model_directional(struct model *m, const double *du, const double *dp, double *dout);

#endif
