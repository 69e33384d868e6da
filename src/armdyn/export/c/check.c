static REAL size_of(REAL x)
{
    return x < ZERO ? -x : x;
}

static int check(const char *function, int state, int count, REAL tolerance, const REAL *got,
    const REAL *expected)
{
    int i, failures = 0;
    REAL scale = tolerance;
    for (i = 0; i < count; i++)
        if (tolerance * size_of(expected[i]) > scale)
            scale = tolerance * size_of(expected[i]);
    for (i = 0; i < count; i++) {
        const int both_nan = got[i] != got[i] && expected[i] != expected[i];
        if (!both_nan && !(size_of(got[i] - expected[i]) <= scale)) {
            printf("%s, state %d, entry %d: got %.17g, expected %.17g\n", function, state, i,
                (double)got[i], (double)expected[i]);
            failures++;
        }
    }
    return failures;
}

