/* Checks a certificate of armdyn: no torque of a motor exceeds its threshold.

   cc -O2 -o check check.c -lm && ./check motor.bound [N]

   With N, of the boxes one in N is checked, drawn by the clock. It knows nothing of the search that
   made the certificate: the tree of halvings is followed from the whole range of the joints, and
   each leaf is bounded by intervals, rounded outwards after every operation. Control points are
   blossoms: over the arc from a to b, the k-th of a form of degree four in (cos q/2, sin q/2) is its
   polar form at 4 - k times a and k times b. What is of degree one in cos q and sin q has the
   corners of the trapezoid of its ends and of the tangents there and in the middle of the arc
   instead. Sines and cosines are taken to be right to 1e-15. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct { double a, b; } I;
enum { JOINTS = 12, ENTRIES = 128 };

static double up(double x) { return nextafter(x, INFINITY); }
static double down(double x) { return nextafter(x, -INFINITY); }
static I exact(double x) { I r = {x, x}; return r; }
static I add(I x, I y) { I r = {down(x.a + y.a), up(x.b + y.b)}; return r; }
static I neg(I x) { I r = {-x.b, -x.a}; return r; }
static I mul(I x, I y) {
    double p = x.a * y.a, q = x.a * y.b, s = x.b * y.a, t = x.b * y.b;
    I r = {down(fmin(fmin(p, q), fmin(s, t))), up(fmax(fmax(p, q), fmax(s, t)))};
    return r;
}
static I over(I x, I y) { /* y is positive */
    I inverse = {down(1 / y.b), up(1 / y.a)};
    return mul(x, inverse);
}
static double size(I x) { return fmax(-x.a, x.b); }
static I wave(double (*f)(double), I x) {
    double middle = x.a + 0.5 * (x.b - x.a), error = up(up(x.b - x.a) + 1e-15), v = f(middle);
    I r = {down(v - error), up(v + error)};
    return r;
}
static void fail(const char *why) { printf("refused: %s\n", why); exit(1); }
static double number(FILE *f) {
    char word[64];
    if (fscanf(f, "%63s", word) != 1) fail("the certificate ends too early");
    char *end;
    double x = strtod(word, &end);
    if (*end || isnan(x)) fail("a number is none");
    return x;
}
static int whole(FILE *f, int least, int most) {
    double x = number(f);
    if (x != floor(x) || x < least || x > most) fail("a whole number is out of range");
    return (int)x;
}

static int joints, entries, count, speeds, slides[JOINTS], widths[JOINTS], tangents[JOINTS];
static int gravity, masses, mass[ENTRIES], square[JOINTS], product[JOINTS][JOINTS];
static double low[JOINTS], high[JOINTS], level[2];
static int *place[JOINTS + 1], groups[JOINTS + 1]; /* of a group and a function, the group before */
static I *values[JOINTS + 1], point[JOINTS][5][5];

/* the values of 1, c, s, c², cs or 1, x, x² at the control points of one joint */
static void control(int j, double a, double b) {
    I A = exact(a), B = exact(b), half = mul(exact(0.5), add(B, neg(A)));
    for (int k = 0; k < widths[j]; k++) {
        I *p = point[j][k];
        p[0] = exact(1);
        if (slides[j]) {
            p[1] = k == 0 ? A : k == 2 ? B : mul(exact(0.5), add(A, B));
            p[2] = k == 0 ? mul(A, A) : k == 2 ? mul(B, B) : mul(A, B);
            p[3] = p[4] = exact(0);
            continue;
        }
        if (half.b >= 1.5) fail("a box of an angle is too wide");
        if (widths[j] == 4) {
            I m = mul(exact(0.5), add(A, B)), c = wave(cos, half), s = wave(sin, half);
            if (k == 1 || k == 2) s = over(s, add(exact(1), c)), c = exact(1);
            if (k < 2) s = neg(s);
            p[1] = add(mul(wave(cos, m), c), neg(mul(wave(sin, m), s)));
            p[2] = add(mul(wave(sin, m), c), mul(wave(cos, m), s));
            p[3] = p[4] = exact(0);
            continue;
        }
        double m = 4 - k;
        I S = mul(exact(0.5), add(mul(exact(m), A), mul(exact(k), B)));
        I w = mul(exact(m * (m - 1) / 2), wave(cos, mul(exact(k), half)));
        w = add(w, mul(exact(m * k), wave(cos, mul(exact(k - 2), half))));
        w = add(w, mul(exact(k * (k - 1) / 2.0), wave(cos, mul(exact(-m), half))));
        w = over(w, exact(6));
        if (w.a <= 0) fail("a weight of a control point is not positive");
        I u = add(S, neg(A)), v = add(S, neg(B));
        for (int f = 0; f < 2; f++) {
            double (*of)(double) = f ? sin : cos;
            I once = add(mul(exact(m), wave(of, u)), mul(exact(k), wave(of, v)));
            p[1 + f] = over(mul(exact(0.25), once), w);
            p[3 + f] = mul(exact(0.5), over(wave(of, S), w));
        }
        p[3] = add(exact(0.5), p[3]);
    }
}

/* whether the torque may exceed a level: speeds get their values one after the other */
static int exceeds(int k, double value, const I *lin, const I *e, double most, double sign) {
    if (k == speeds) return value > most;
    I c = square[k] < 0 ? exact(0) : e[square[k]];
    if (sign < 0) c = neg(c);
    if (k == speeds - 1) {
        double p = size(lin[k]), end = up(p + c.b);
        if (c.b < 0 && p < -2 * c.b) end = up(up(p * p) / down(-4 * c.b));
        return up(value + end) > most;
    }
    double reach = value;
    for (int j = k; j < speeds; j++) {
        reach = up(reach + size(lin[j]));
        if (square[j] >= 0) {
            I d = e[square[j]];
            reach = up(reach + fmax(0, sign < 0 ? -d.a : d.b));
        }
        for (int l = j + 1; l < speeds; l++)
            if (product[j][l] >= 0) reach = up(reach + size(e[product[j][l]]));
    }
    if (reach <= most) return 0;
    for (int n = 0; n <= tangents[k]; n++)
        for (int way = 0; way < (k ? 2 : 1); way++) {
            double L = tangents[k], i = n - 1, v = n ? (i + 0.5) / L : 1;
            double concave = n ? down(down(i * (i + 1)) / up(L * L)) : L > 0;
            I speed = {n ? down(v) : v, n ? up(v) : v};
            double then = up(value + up(fmax(up(v * v) * c.b, concave * c.b)));
            if (way) speed = neg(speed);
            I after[JOINTS];
            then = up(then + mul(speed, lin[k]).b);
            for (int j = k + 1; j < speeds; j++) {
                after[j] = lin[j];
                if (product[k][j] >= 0) {
                    I b = e[product[k][j]];
                    after[j] = add(after[j], mul(speed, sign < 0 ? neg(b) : b));
                }
            }
            if (exceeds(k + 1, then, after, e, most, sign)) return 1;
        }
    return 0;
}

static int leaf(int j) {
    if (j == joints) {
        const I *e = values[joints];
        I none[JOINTS];
        memset(none, 0, sizeof none);
        for (int way = 0; way < 2; way++) {
            I g = gravity < 0 ? exact(0) : e[gravity];
            double value = way ? -g.a : g.b;
            for (int k = 0; k < masses; k++) value = up(value + size(e[mass[k]]));
            if (exceeds(0, value, none, e, level[way], way ? -1 : 1)) return 1;
        }
        return 0;
    }
    for (int k = 0; k < widths[j]; k++) {
        for (int g = 0; g < groups[j + 1]; g++) {
            I total = exact(0);
            for (int f = 0; f < 5; f++) {
                int from = place[j + 1][5 * g + f];
                if (from >= 0) total = add(total, mul(point[j][k][f], values[j][from]));
            }
            values[j + 1][g] = total;
        }
        if (leaf(j + 1)) return 1;
    }
    return 0;
}

static long leaves, checked;
static void descend(FILE *tree, const double *a, const double *b, int one_in) {
    int axis = whole(tree, 0, joints);
    double c[JOINTS], d[JOINTS];
    if (!axis) {
        leaves++;
        if (one_in > 1 && rand() % one_in) return;
        for (int j = 0; j < joints; j++) control(j, a[j], b[j]);
        if (leaf(0)) fail("the bound of a box is above the threshold");
        checked++;
        return;
    }
    memcpy(c, a, sizeof c);
    memcpy(d, b, sizeof d);
    double middle = 0.5 * a[axis - 1] + 0.5 * b[axis - 1]; /* both halves have it, whatever it is */
    d[axis - 1] = middle;
    descend(tree, a, d, one_in);
    c[axis - 1] = middle;
    descend(tree, c, b, one_in);
}

static void read_row(FILE *f, int one_in) {
    joints = whole(f, 1, JOINTS);
    for (int j = 0; j < joints; j++) {
        slides[j] = whole(f, 0, 1);
        widths[j] = slides[j] ? 3 : 4;
        double least = number(f), most = number(f);
        low[j] = number(f);
        high[j] = number(f);
        int turn = !slides[j] && high[j] - low[j] >= 6.283185307179587;
        if (!(turn || (low[j] <= least && most <= high[j]))) fail("a range is not covered");
    }
    double threshold = number(f), error = number(f);
    for (int k = 0; k < 2; k++) level[k] = down(down(threshold - number(f)) - error);
    speeds = whole(f, 0, JOINTS);
    int order[JOINTS];
    for (int k = 0; k < JOINTS; k++) {
        order[k] = square[k] = -1;
        for (int l = 0; l < JOINTS; l++) product[k][l] = -1;
    }
    for (int k = 0; k < speeds; k++) {
        int speed = whole(f, 0, JOINTS - 1);
        if (order[speed] >= 0) fail("a speed stands twice");
        order[speed] = k;
        tangents[k] = whole(f, 0, 1000);
    }
    entries = whole(f, 1, ENTRIES);
    gravity = -1, masses = 0;
    for (int e = 0; e < entries; e++) {
        int rates = whole(f, 0, 2);
        int r[2] = {0, 0};
        for (int k = 0; k < rates; k++) r[k] = whole(f, 0, JOINTS - 1);
        if (rates == 0) gravity = e;
        else if (rates == 1) mass[masses++] = e;
        else {
            int a = order[r[0]], b = order[r[1]];
            if (a < 0 || b < 0) fail("a speed is missing");
            if (a == b) square[a] = e;
            else product[a][b] = product[b][a] = e;
        }
    }
    count = whole(f, 1, 1 << 24);
    int *rest = malloc(sizeof(int) * count), *next = malloc(sizeof(int) * count);
    int(*functions)[JOINTS] = malloc(sizeof *functions * count);
    values[0] = malloc(sizeof(I) * count);
    groups[0] = count;
    for (int n = 0; n < count; n++) {
        rest[n] = whole(f, 0, entries - 1);
        for (int j = 0; j < joints; j++) {
            functions[n][j] = whole(f, 0, slides[j] ? 2 : 4);
            if (functions[n][j] > 2) widths[j] = 5;
        }
        values[0][n] = exact(number(f));
    }
    /* terms stand in order of the entry and the functions of the last joints first, so that those
       which differ in the functions of the joints that are done stand side by side */
    for (int n = 0; n < count; n++) next[n] = n; /* the first term of each group */
    for (int j = 0; j < joints; j++) {
        place[j + 1] = malloc(sizeof(int) * 5 * count);
        int made = 0;
        for (int g = 0; g < groups[j]; g++) {
            int n = next[g], m = made ? next[made - 1] : -1, same = m >= 0 && rest[n] == rest[m];
            for (int l = j + 1; l < joints && same; l++) same = functions[n][l] == functions[m][l];
            if (!same) {
                for (int k = 0; k < 5; k++) place[j + 1][5 * made + k] = -1;
                next[made++] = n;
            }
            int *slot = &place[j + 1][5 * (made - 1) + functions[n][j]];
            if (*slot >= 0) fail("a term stands twice, or out of order");
            *slot = g;
        }
        groups[j + 1] = made;
        values[j + 1] = malloc(sizeof(I) * made);
    }
    for (int g = 0, last = -1; g < groups[joints]; g++) { /* entries without terms are zero */
        if (rest[next[g]] != last + 1) fail("an entry has no terms, or they are out of order");
        last++;
    }
    if (groups[joints] != entries) fail("an entry has no terms");
    descend(f, low, high, one_in);
    for (int j = 0; j <= joints; j++) free(values[j]), free(j ? place[j] : rest);
    free(next), free(functions);
}

int main(int argc, char **argv) {
    FILE *f = argc > 1 ? fopen(argv[1], "r") : 0;
    int version, rows, one_in = argc > 2 ? atoi(argv[2]) : 1;
    srand((unsigned)time(0));
    if (!f || fscanf(f, "armdyn-bound %d %d", &version, &rows) != 2 || version != 1)
        fail("this is no certificate");
    for (int k = 0; k < rows; k++) read_row(f, one_in);
    printf("holds: %ld of %ld boxes checked\n", checked, leaves);
    return 0;
}
