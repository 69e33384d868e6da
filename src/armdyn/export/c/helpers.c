static $real sign($real x)
{
    return x > $zero ? $one : x < $zero ? -$one : x;
}

/* a + b; far from zero less whole turns, so that it is not rounded. */
static $real angle_sum($real a, $real b)
{
    const $real total = a + b;
    return fabs$f(total) > $far ? atan2$f(sin$f(a), cos$f(a)) + atan2$f(sin$f(b), cos$f(b)) : total;
}

static $real signed_power($real x, $real a)
{
    return x > $zero ? pow$f(x, a) : x < $zero ? -pow$f(-x, a) : x;
}

/* A pivot that is more than rounding of the inertia it comes from, else NaN. */
static $real guard($real pivot, $real scale)
{
    const $real least = $least * (scale < $zero ? -scale : scale);
    return pivot > least || -pivot > least ? pivot : ($real)NAN;
}
