/*
 * The functions of @PREFIX@.h for MATLAB and Octave: @PREFIX@_mex('name', q, ...).
 * Compile it with @PREFIX@_build; the functions of the package +@PREFIX@ call it.
 */
#include "mex.h"

#include "@PREFIX@.h"

#include <string.h>

#define MOST_ARGUMENTS @MOST@

typedef @REAL@ real;

typedef struct {
    const char *name;
    size_t size;
} argument;

typedef struct {
    const char *name;
    void (*call)(const real *const *x, real *y);
    int count;
    argument arguments[MOST_ARGUMENTS];
    int axes;
    size_t rows, columns, pages;
} function;

@CALLS@
static const function functions[] = {
@TABLE@
};

static const function *find(const mxArray *given)
{
    char name[64];
    size_t k;
    if (!mxIsChar(given) || mxGetString(given, name, sizeof name))
        mexErrMsgIdAndTxt("@PREFIX@:function", "the first argument must be the name of a function");
    for (k = 0; k < sizeof functions / sizeof *functions; k++)
        if (!strcmp(functions[k].name, name))
            return &functions[k];
    mexErrMsgIdAndTxt("@PREFIX@:function", "there is no function '%s'", name);
    return NULL;
}

/* How many states an argument has, 0 if it is one state for all. */
static size_t states(const mxArray *given, const function *f, int k)
{
    const argument *const a = &f->arguments[k];
    size_t rows, columns;
    if (mxGetClassID(given) != @CLASS@ || mxIsComplex(given) || mxIsSparse(given)
        || mxGetNumberOfDimensions(given) != 2)
        mexErrMsgIdAndTxt("@PREFIX@:argument",
            "%s: %s must be a full real matrix of class @CLASS_NAME@", f->name, a->name);
    rows = mxGetM(given);
    columns = mxGetN(given);
    if (rows == a->size)
        return columns == 1 ? 0 : columns;
    if (rows == 1 && columns == a->size)
        return 0; /* a row is as good as a column */
    mexErrMsgIdAndTxt("@PREFIX@:argument", "%s: %s must have %d rows, got a matrix of %d x %d",
        f->name, a->name, (int)a->size, (int)rows, (int)columns);
    return 0;
}

/* Pages of a result from row by row, as C has them, to column by column. */
static void turn(const function *f, const real *from, real *to)
{
    size_t p, r, c;
    for (p = 0; p < f->pages; p++, from += f->rows * f->columns, to += f->rows * f->columns)
        for (r = 0; r < f->rows; r++)
            for (c = 0; c < f->columns; c++)
                to[c * f->rows + r] = from[r * f->columns + c];
}

void mexFunction(int results, mxArray *result[], int arguments, const mxArray *given[])
{
    const function *f;
    const real *x[MOST_ARGUMENTS];
    size_t step[MOST_ARGUMENTS], count = 0, size, n;
    mwSize shape[4];
    real *y, *row;
    int k, axes = 0;
    (void)results;
    if (arguments < 1)
        mexErrMsgIdAndTxt("@PREFIX@:function", "the first argument must be the name of a function");
    f = find(given[0]);
    if (arguments - 1 != f->count)
        mexErrMsgIdAndTxt("@PREFIX@:argument", "%s takes %d arguments, got %d", f->name, f->count,
            arguments - 1);
    for (k = 0; k < f->count; k++) {
        const size_t found = states(given[k + 1], f, k);
        const bool empty = mxIsEmpty(given[k + 1]);
        if ((found || empty) && count && found != count)
            mexErrMsgIdAndTxt("@PREFIX@:argument", "%s: %s has %d columns, others have %d", f->name,
                f->arguments[k].name, (int)found, (int)count);
        if (empty)
            mexErrMsgIdAndTxt("@PREFIX@:argument", "%s: %s has no columns", f->name,
                f->arguments[k].name);
        count = found ? found : count;
        step[k] = found ? f->arguments[k].size : 0;
        x[k] = mxGetData(given[k + 1]);
    }
    count = count ? count : 1;
    size = f->rows * f->columns * f->pages;
    shape[axes++] = f->rows;
    if (f->axes > 1)
        shape[axes++] = f->columns;
    if (f->axes > 2)
        shape[axes++] = f->pages;
    shape[axes++] = count;
    result[0] = mxCreateNumericArray((mwSize)axes, shape, @CLASS@, mxREAL);
    y = mxGetData(result[0]);
    row = mxMalloc(size * sizeof *row);
    for (n = 0; n < count; n++, y += size) {
        f->call(x, row);
        turn(f, row, y);
        for (k = 0; k < f->count; k++)
            x[k] += step[k];
    }
    mxFree(row);
}
