/*
 * An arm as a unit of FMI 3.0 for co-simulation: torques of the actuators in, motion out.
 *
 * Torques are constant during a step of the simulation, which is divided into equal steps of the
 * classical Runge-Kutta method, none longer than the parameter "step". All variables are numbers in
 * one array, by their reference: the time, torques, positions, velocities, accelerations, the
 * longest step, and then parameters, if there are any.
 *
 * Types and functions are those of the standard (https://fmi-standard.org), which says what each
 * of them means; what a unit of this kind does not have is an error where the standard allows it.
 */
#include "fmu_model.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32) || defined(__CYGWIN__)
#define FMI __declspec(dllexport)
#elif defined(__GNUC__)
#define FMI __attribute__((visibility("default")))
#else
#define FMI
#endif

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } status;
typedef void *instance;
typedef uint32_t reference;
typedef void (*log_message)(void *environment, status, const char *category, const char *message);

enum { TIME = 0, TORQUE = 1, POSITION = TORQUE + JOINTS, VELOCITY = POSITION + JOINTS,
       ACCELERATIONS = VELOCITY + JOINTS, LONGEST = ACCELERATIONS + JOINTS, PARAMETERS };

typedef enum { INSTANTIATED, INITIALIZATION, STEPPING, TERMINATED } mode;

/* What a unit is made of, apart from its environment: this is what is saved and restored. */
typedef struct {
    double v[VARIABLES];
    mode mode;
    bool current; /* whether the accelerations are those of the other variables */
} state;

typedef struct {
    state now;
    bool logging;
    void *environment;
    log_message log;
} unit;

static status fail(instance i, const char *message)
{
    const unit *const u = i;
    if (u && u->log)
        u->log(u->environment, ERROR, "logStatusError", message);
    return ERROR;
}

/* ---- one step ---- */

static void add(double *to, const double *a, double h, const double *b)
{
    int i;
    for (i = 0; i < JOINTS; i++)
        to[i] = a[i] + h * b[i];
}

static void runge_kutta(double *v, double h)
{
    double *const q = v + POSITION, *const qd = v + VELOCITY;
    double a1[JOINTS], a2[JOINTS], a3[JOINTS], a4[JOINTS];
    double x[JOINTS], v2[JOINTS], v3[JOINTS], v4[JOINTS];
    const double half = 0.5 * h, sixth = h * (1.0 / 6.0);
    int i;
    ACCELERATION(v, q, qd, a1);
    add(v2, qd, half, a1);
    add(x, q, half, qd);
    ACCELERATION(v, x, v2, a2);
    add(v3, qd, half, a2);
    add(x, q, half, v2);
    ACCELERATION(v, x, v3, a3);
    add(v4, qd, h, a3);
    add(x, q, h, v3);
    ACCELERATION(v, x, v4, a4);
    for (i = 0; i < JOINTS; i++) {
        const double between = a2[i] + a3[i];
        q[i] += h * (qd[i] + sixth * (a1[i] + between));
        qd[i] += sixth * (a1[i] + 2.0 * between + a4[i]);
    }
}

static bool finite_state(const double *v)
{
    int i;
    for (i = POSITION; i < ACCELERATIONS; i++)
        if (!isfinite(v[i]))
            return false;
    return true;
}

FMI status fmi3DoStep(instance i, double start, double length, bool no_return,
    bool *event, bool *terminate, bool *early, double *reached)
{
    unit *const u = i;
    double *const v = u->now.v;
    double steps, done;
    (void)no_return;
    *event = *terminate = *early = false;
    *reached = v[TIME];
    if (u->now.mode != STEPPING)
        return fail(i, "fmi3DoStep: the unit is not initialized, or is terminated");
    if (!(length >= 0.0) || !isfinite(start + length))
        return fail(i, "fmi3DoStep: the step must be a positive, finite time");
    if (!(v[LONGEST] > 0.0))
        return fail(i, "fmi3DoStep: the parameter step must be a positive time");
    steps = ceil(length / v[LONGEST] * (1.0 - 1e-12));
    if (steps > 1e9)
        return fail(i, "fmi3DoStep: the parameter step is too short for a step of this length");
    u->now.current = false;
    for (done = 0.0; done < steps; done += 1.0) {
        runge_kutta(v, length / steps);
        if (!finite_state(v))
            return fail(i, "fmi3DoStep: the motion diverges, or the mass matrix is singular; take "
                           "a shorter parameter step, or look at the torques");
        v[TIME] = start + length * ((done + 1.0) / steps);
    }
    *reached = v[TIME] = start + length;
    return OK;
}

/* ---- life of a unit ---- */

static void reset(unit *u)
{
    static const double starts[VARIABLES] = STARTS;
    memcpy(u->now.v, starts, sizeof starts);
    u->now.mode = INSTANTIATED;
    u->now.current = false;
}

FMI const char *fmi3GetVersion(void)
{
    return "3.0";
}

FMI instance fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources,
    bool visible, bool logging, bool events, bool early, const reference *intermediate,
    size_t intermediates, void *environment, log_message log, void (*update)(void))
{
    unit *u;
    (void)name, (void)resources, (void)visible, (void)events, (void)early, (void)intermediate;
    (void)update;
    if (!token || strcmp(token, TOKEN) != 0 || intermediates) {
        if (log)
            log(environment, ERROR, "logStatusError", intermediates
                ? "fmi3InstantiateCoSimulation: there are no intermediate variables"
                : "fmi3InstantiateCoSimulation: the instantiation token is that of another unit");
        return NULL;
    }
    u = malloc(sizeof *u);
    if (!u)
        return NULL;
    memset(u, 0, sizeof *u);
    u->logging = logging;
    u->environment = environment;
    u->log = log;
    reset(u);
    return u;
}

FMI instance fmi3InstantiateModelExchange(const char *name, const char *token,
    const char *resources, bool visible, bool logging, void *environment, log_message log)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging;
    if (log)
        log(environment, ERROR, "logStatusError", "this unit is for co-simulation");
    return NULL;
}

FMI instance fmi3InstantiateScheduledExecution(const char *name, const char *token,
    const char *resources, bool visible, bool logging, void *environment, log_message log,
    void (*update)(void), void (*lock)(void), void (*unlock)(void))
{
    (void)update, (void)lock, (void)unlock;
    return fmi3InstantiateModelExchange(name, token, resources, visible, logging, environment, log);
}

FMI void fmi3FreeInstance(instance i)
{
    free(i);
}

FMI status fmi3SetDebugLogging(instance i, bool on, size_t count, const char *const *categories)
{
    (void)count, (void)categories;
    ((unit *)i)->logging = on;
    return OK;
}

FMI status fmi3EnterInitializationMode(instance i, bool has_tolerance, double tolerance,
    double start, bool has_stop, double stop)
{
    unit *const u = i;
    (void)has_tolerance, (void)tolerance, (void)has_stop, (void)stop;
    if (u->now.mode != INSTANTIATED)
        return fail(i, "fmi3EnterInitializationMode: the unit was initialized before; reset it");
    u->now.v[TIME] = start;
    u->now.mode = INITIALIZATION;
    return OK;
}

FMI status fmi3ExitInitializationMode(instance i)
{
    unit *const u = i;
    if (u->now.mode != INITIALIZATION)
        return fail(i, "fmi3ExitInitializationMode: the unit is not in this mode");
    u->now.mode = STEPPING;
    return OK;
}

FMI status fmi3Terminate(instance i)
{
    ((unit *)i)->now.mode = TERMINATED;
    return OK;
}

FMI status fmi3Reset(instance i)
{
    reset(i);
    return OK;
}

/* ---- variables ---- */

FMI status fmi3GetFloat64(instance i, const reference *which, size_t count, double *values,
    size_t length)
{
    unit *const u = i;
    double *const v = u->now.v;
    size_t k;
    if (length != count)
        return fail(i, "fmi3GetFloat64: every variable is one number");
    for (k = 0; k < count; k++) {
        if (which[k] >= VARIABLES)
            return fail(i, "fmi3GetFloat64: there is no variable with this reference");
        if (which[k] >= ACCELERATIONS && which[k] < LONGEST && !u->now.current) {
            ACCELERATION(v, v + POSITION, v + VELOCITY, v + ACCELERATIONS);
            u->now.current = true;
        }
        values[k] = v[which[k]];
    }
    return OK;
}

static const char *refusal(mode m, reference r, double value)
{
    const bool started = m == STEPPING || m == TERMINATED;
    if (r >= VARIABLES)
        return "fmi3SetFloat64: there is no variable with this reference";
    if (r == TIME || (r >= ACCELERATIONS && r < LONGEST))
        return "fmi3SetFloat64: time and accelerations are computed";
    if (started && r >= POSITION && r < ACCELERATIONS)
        return "fmi3SetFloat64: positions and velocities are set before the simulation starts";
    if (r == LONGEST && started)
        return "fmi3SetFloat64: the parameter step is set before the simulation starts";
    if (r == LONGEST && !(value > 0.0))
        return "fmi3SetFloat64: the parameter step must be a positive time";
    return NULL;
}

FMI status fmi3SetFloat64(instance i, const reference *which, size_t count, const double *values,
    size_t length)
{
    unit *const u = i;
    size_t k;
    if (length != count)
        return fail(i, "fmi3SetFloat64: every variable is one number");
    for (k = 0; k < count; k++) {
        const char *const message = refusal(u->now.mode, which[k], values[k]);
        if (message)
            return fail(i, message);
        u->now.v[which[k]] = values[k];
    }
    u->now.current = false;
    return OK;
}

#define NO_VARIABLES(TYPE, NAME)                                                              \
    FMI status fmi3Get##NAME(instance i, const reference *which, size_t count, TYPE *values,  \
        size_t length)                                                                        \
    {                                                                                         \
        (void)which, (void)values, (void)length;                                              \
        return count ? fail(i, "fmi3Get" #NAME ": all variables are Float64") : OK;           \
    }                                                                                         \
    FMI status fmi3Set##NAME(instance i, const reference *which, size_t count,                \
        const TYPE *values, size_t length)                                                    \
    {                                                                                         \
        (void)which, (void)values, (void)length;                                              \
        return count ? fail(i, "fmi3Set" #NAME ": all variables are Float64") : OK;           \
    }

typedef const char *string;
typedef const uint8_t *binary;

NO_VARIABLES(float, Float32)
NO_VARIABLES(int8_t, Int8)
NO_VARIABLES(uint8_t, UInt8)
NO_VARIABLES(int16_t, Int16)
NO_VARIABLES(uint16_t, UInt16)
NO_VARIABLES(int32_t, Int32)
NO_VARIABLES(uint32_t, UInt32)
NO_VARIABLES(int64_t, Int64)
NO_VARIABLES(uint64_t, UInt64)
NO_VARIABLES(bool, Boolean)
NO_VARIABLES(string, String)

FMI status fmi3GetBinary(instance i, const reference *which, size_t count, size_t *sizes,
    binary *values, size_t length)
{
    (void)which, (void)sizes, (void)values, (void)length;
    return count ? fail(i, "fmi3GetBinary: all variables are Float64") : OK;
}

FMI status fmi3SetBinary(instance i, const reference *which, size_t count, const size_t *sizes,
    const binary *values, size_t length)
{
    (void)which, (void)sizes, (void)values, (void)length;
    return count ? fail(i, "fmi3SetBinary: all variables are Float64") : OK;
}

FMI status fmi3GetClock(instance i, const reference *which, size_t count, bool *values)
{
    (void)which, (void)values;
    return count ? fail(i, "fmi3GetClock: there are no clocks") : OK;
}

FMI status fmi3SetClock(instance i, const reference *which, size_t count, const bool *values)
{
    (void)which, (void)values;
    return count ? fail(i, "fmi3SetClock: there are no clocks") : OK;
}

/* ---- saved states ---- */

FMI status fmi3GetFMUState(instance i, void **saved)
{
    if (!*saved)
        *saved = malloc(sizeof(state));
    if (!*saved)
        return fail(i, "fmi3GetFMUState: there is no memory");
    memcpy(*saved, &((unit *)i)->now, sizeof(state));
    return OK;
}

FMI status fmi3SetFMUState(instance i, void *saved)
{
    if (!saved)
        return fail(i, "fmi3SetFMUState: there is no state");
    memcpy(&((unit *)i)->now, saved, sizeof(state));
    return OK;
}

FMI status fmi3FreeFMUState(instance i, void **saved)
{
    (void)i;
    free(*saved);
    *saved = NULL;
    return OK;
}

FMI status fmi3SerializedFMUStateSize(instance i, void *saved, size_t *size)
{
    (void)i, (void)saved;
    *size = sizeof(state);
    return OK;
}

FMI status fmi3SerializeFMUState(instance i, void *saved, uint8_t *bytes, size_t size)
{
    if (size < sizeof(state))
        return fail(i, "fmi3SerializeFMUState: the buffer is too small");
    memcpy(bytes, saved, sizeof(state));
    return OK;
}

FMI status fmi3DeserializeFMUState(instance i, const uint8_t *bytes, size_t size, void **saved)
{
    if (size != sizeof(state))
        return fail(i, "fmi3DeserializeFMUState: these are not the bytes of a state of this unit");
    if (!*saved)
        *saved = malloc(sizeof(state));
    if (!*saved)
        return fail(i, "fmi3DeserializeFMUState: there is no memory");
    memcpy(*saved, bytes, sizeof(state));
    return OK;
}

/* ---- what this unit does not have ---- */

#define ABSENT(NAME, ...)                                          \
    FMI status NAME(instance i, __VA_ARGS__)                       \
    {                                                              \
        return fail(i, #NAME ": this unit does not have it");      \
    }
#define ABSENT_MODE(NAME)                                          \
    FMI status NAME(instance i)                                    \
    {                                                              \
        return fail(i, #NAME ": this unit does not have it");      \
    }

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

ABSENT_MODE(fmi3EnterEventMode)
ABSENT_MODE(fmi3EnterStepMode)
ABSENT_MODE(fmi3EnterConfigurationMode)
ABSENT_MODE(fmi3ExitConfigurationMode)
ABSENT_MODE(fmi3EvaluateDiscreteStates)
ABSENT_MODE(fmi3EnterContinuousTimeMode)
ABSENT(fmi3GetNumberOfVariableDependencies, reference r, size_t *count)
ABSENT(fmi3GetVariableDependencies, reference r, size_t *elements, reference *of,
    size_t *of_elements, int *kinds, size_t count)
ABSENT(fmi3GetDirectionalDerivative, const reference *y, size_t ny, const reference *x, size_t nx,
    const double *seed, size_t seeds, double *slopes, size_t count)
ABSENT(fmi3GetAdjointDerivative, const reference *y, size_t ny, const reference *x, size_t nx,
    const double *seed, size_t seeds, double *slopes, size_t count)
ABSENT(fmi3GetIntervalDecimal, const reference *r, size_t count, double *intervals, int *kinds)
ABSENT(fmi3GetIntervalFraction, const reference *r, size_t count, uint64_t *counters,
    uint64_t *resolutions, int *kinds)
ABSENT(fmi3GetShiftDecimal, const reference *r, size_t count, double *shifts)
ABSENT(fmi3GetShiftFraction, const reference *r, size_t count, uint64_t *counters,
    uint64_t *resolutions)
ABSENT(fmi3SetIntervalDecimal, const reference *r, size_t count, const double *intervals)
ABSENT(fmi3SetIntervalFraction, const reference *r, size_t count, const uint64_t *counters,
    const uint64_t *resolutions)
ABSENT(fmi3SetShiftDecimal, const reference *r, size_t count, const double *shifts)
ABSENT(fmi3SetShiftFraction, const reference *r, size_t count, const uint64_t *counters,
    const uint64_t *resolutions)
ABSENT(fmi3UpdateDiscreteStates, bool *update, bool *terminate, bool *nominals, bool *values,
    bool *has_next, double *next)
ABSENT(fmi3CompletedIntegratorStep, bool no_return, bool *event, bool *terminate)
ABSENT(fmi3SetTime, double time)
ABSENT(fmi3SetContinuousStates, const double *states, size_t count)
ABSENT(fmi3GetContinuousStateDerivatives, double *derivatives, size_t count)
ABSENT(fmi3GetEventIndicators, double *indicators, size_t count)
ABSENT(fmi3GetContinuousStates, double *states, size_t count)
ABSENT(fmi3GetNominalsOfContinuousStates, double *nominals, size_t count)
ABSENT(fmi3GetNumberOfEventIndicators, size_t *count)
ABSENT(fmi3GetNumberOfContinuousStates, size_t *count)
ABSENT(fmi3GetOutputDerivatives, const reference *r, size_t count, const int32_t *orders,
    double *values, size_t length)
ABSENT(fmi3ActivateModelPartition, reference clock, double time)
