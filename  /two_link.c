/* Dynamics of two-link arm; two_link.h says what is computed. */
#include "two_link.h"

#include <math.h>

/*
 * Numbers of the robot, of link i in its frame: J second moments about the origin, M mass,
 * MX, MY, MZ first moments, a and r offsets, g gravity; k what is made of these, and other
 * numbers of joints and frames.
 */
static const double Jxx2 = 0.21333333333333337;
static const double k1 = 1.0666666666666669;
static const double k2 = -15.68992;
static const double k3 = 0.32000000000000006;
static const double k4 = 1.2800000000000002;
static const double k5 = 4.687499999999999;

/* a + b; far from zero less whole turns, so that it is not rounded. */
static double angle_sum(double a, double b)
{
    const double total = a + b;
    return fabs(total) > 32.0 ? atan2(sin(a), cos(a)) + atan2(sin(b), cos(b)) : total;
}

/* A pivot that is more than rounding of the inertia it comes from, else NaN. */
static double guard(double pivot, double scale)
{
    const double least = 1e-13 * (scale < 0.0 ? -scale : scale);
    return pivot > least || -pivot > least ? pivot : NAN;
}

/* 12 multiplications, 10 additions, 3 sine-cosine pairs. */
void two_link_inverse_dynamics(
    const double q[2],
    const double qd[2],
    const double qdd[2],
    double tau[2])
{
    const double v1 = qdd[0] + qdd[1];
    const double c2 = cos(q[1]);
    const double s2 = sin(q[1]);
    const double v2 = 0.32 * c2;
    const double v3 = qd[0] + qd[1];
    const double v4 = 0.32 * s2;
    const double c12 = cos(angle_sum(q[0], q[1]));
    const double v5 = Jxx2 * v1 + (qdd[0] * v2 + qd[0] * qd[0] * v4);
    const double v6 = -3.92248 * c12 - v5;
    const double c1 = cos(q[0]);
    const double v7 = qdd[0] * k1 + (v1 * v2 - v3 * v3 * v4 - v6) - k2 * c1;
    const double v8 = -v6;

    tau[0] = v7; tau[1] = v8;
}

/* 14 multiplications, 13 additions, 1 division, 3 sine-cosine pairs, 1 other operation. */
void two_link_forward_dynamics(
    const double q[2],
    const double qd[2],
    const double tau[2],
    double qdd[2])
{
    const double c2 = cos(q[1]);
    const double s2 = sin(q[1]);
    const double v1 = c2 * k3;
    const double v2 = v1 + v1 + k4;
    const double v3 = Jxx2 + v1;
    const double v4 = v3 * k5;
    const double v5 = qd[0] + qd[1];
    const double v6 = k3 * s2;
    const double c12 = cos(angle_sum(q[0], q[1]));
    const double v7 = -3.92248 * c12 - qd[0] * qd[0] * v6;
    const double c1 = cos(q[0]);
    const double v8 = tau[1] + v7;
    const double v9 = tau[0] + (k2 * c1 + (v5 * v5 * v6 + v7)) - v4 * v8;
    const double v10 = 1.0 / guard(v2 - v3 * v4, v2) * v9;
    const double v11 = k5 * v8 - v4 * v10;

    qdd[0] = v10; qdd[1] = v11;
}

/* 1 multiplication, 3 additions, 1 sine-cosine pair. */
void two_link_mass_matrix(const double q[2], double M[4])
{
    const double c2 = cos(q[1]);
    const double v1 = c2 * k3;
    const double v2 = v1 + v1 + k4;
    const double v3 = Jxx2 + v1;

    M[0] = v2; M[1] = v3;
    M[2] = v3; M[3] = Jxx2;
}

/* 3 multiplications, 1 addition, 1 sine-cosine pair. */
void two_link_coriolis_matrix(const double q[2], const double qd[2], double C[4])
{
    const double s2 = sin(q[1]);
    const double v1 = s2 * k3;
    const double v2 = qd[1] * v1;
    const double v3 = -v2;
    const double v4 = qd[0] * v1;
    const double v5 = -(v2 + v4);

    C[0] = v3; C[1] = v5;
    C[2] = v4; C[3] = 0.0;
}

/* 2 multiplications, 2 additions, 2 sine-cosine pairs. */
void two_link_gravity_vector(const double q[2], double g[2])
{
    const double c12 = cos(angle_sum(q[0], q[1]));
    const double v1 = -3.92248 * c12;
    const double c1 = cos(q[0]);
    const double v2 = -(v1 + k2 * c1);
    const double v3 = -v1;

    g[0] = v2; g[1] = v3;
}

/* 2 multiplications, 3 additions, 2 sine-cosine pairs. */
void two_link_forward_kinematics(const double q[2], double T[16])
{
    const double v1 = angle_sum(q[0], q[1]);
    const double c12 = cos(v1);
    const double s12 = sin(v1);
    const double v2 = -s12;
    const double c1 = cos(q[0]);
    const double s1 = sin(q[0]);
    const double v3 = 0.8 * (c1 + c12);
    const double v4 = 0.8 * (s1 + s12);

    T[0] = c12; T[1] = v2; T[2] = 0.0; T[3] = v3;
    T[4] = s12; T[5] = c12; T[6] = 0.0; T[7] = v4;
    T[8] = 0.0; T[9] = 0.0; T[10] = 1.0; T[11] = 0.0;
    T[12] = 0.0; T[13] = 0.0; T[14] = 0.0; T[15] = 1.0;
}

/* 4 multiplications, 3 additions, 2 sine-cosine pairs. */
void two_link_jacobian(const double q[2], double J[12])
{
    const double s1 = sin(q[0]);
    const double c1 = cos(q[0]);
    const double v1 = angle_sum(q[0], q[1]);
    const double s12 = sin(v1);
    const double c12 = cos(v1);
    const double v2 = 0.8 * s12;
    const double v3 = -(s1 * 0.8 + v2);
    const double v4 = -v2;
    const double v5 = 0.8 * c12;
    const double v6 = c1 * 0.8 + v5;

    J[0] = v3; J[1] = v4;
    J[2] = v6; J[3] = v5;
    J[4] = 0.0; J[5] = 0.0;
    J[6] = 0.0; J[7] = 0.0;
    J[8] = 0.0; J[9] = 0.0;
    J[10] = 1.0; J[11] = 1.0;
}

#ifdef TWO_LINK_SELFTEST

#include <stdio.h>

static const double test_q[3][2] = {
    {-0.18, -0.969},
    {1.778, -1.351},
    {1.341, -1.252}
};

static const double test_qd[3][2] = {
    {-1.331, -0.91},
    {-0.691, -0.712},
    {-1.626, 0.652}
};

static const double test_qdd[3][2] = {
    {-1.227, -1.698},
    {1.172, -0.755},
    {-1.337, 0.757}
};

static const double test_tau[3][2] = {
    {-1.185, -0.293},
    {-0.485, -0.337},
    {-1.02, -0.356}
};

static const double expected_inverse_dynamics[3][2] = {
    {15.214746944884, 0.292273720520085},
    {2.25806983771899, 3.59190173090584},
    {5.22352843220982, 2.845715517422}
};

static const double expected_forward_dynamics[3][2] = {
    {-18.0072272973097, 26.5882942050672},
    {3.53897580889925, -22.3128133094385},
    {-2.84416138273116, -12.0353098153912}
};

static const double expected_mass_matrix[3][4] = {
    {1.64231944581534, 0.394493056241004, 0.394493056241004, 0.213333333333333},
    {1.41953974681248, 0.283103206739574, 0.283103206739574, 0.213333333333333},
    {1.48059120881751, 0.313628937742087, 0.313628937742087, 0.213333333333333}
};

static const double expected_coriolis_matrix[3][4] = {
    {-0.240041984424769, -0.591136359446051, 0.351094375021283, 0.0},
    {-0.222358597168101, -0.438158864925346, 0.215800267757244, 0.0},
    {0.198127332617841, -0.295975493818677, 0.494102826436519, 0.0}
};

static const double expected_gravity_vector[3][2] = {
    {17.0422921460313, 1.60586331368112},
    {0.342493273073137, 3.57028942429398},
    {7.48079283733445, 3.90695526963561}
};

static const double expected_forward_kinematics[3][16] = {
    {0.409400000428587, 0.912354996505786, 0.0, 1.11459495457337, -0.912354996505786,
     0.409400000428587, 0.0, -0.873107655945288, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0},
    {0.910212269863449, -0.414142033353326, 0.0, 0.563590460420707, 0.414142033353326,
     0.910212269863449, 0.0, 1.1142016363961, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0},
    {0.996042113569887, -0.0888825516917203, 0.0, 0.979057058098004, 0.0888825516917203,
     0.996042113569887, 0.0, 0.850076287531594, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0}
};

static const double expected_jacobian[3][12] = {
    {0.873107655945288, 0.729883997204629, 1.11459495457337, 0.32752000034287, 0.0, 0.0, 0.0,
     0.0, 0.0, 0.0, 1.0, 1.0},
    {-1.1142016363961, -0.331313626682661, 0.563590460420707, 0.728169815890759, 0.0, 0.0, 0.0,
     0.0, 0.0, 0.0, 1.0, 1.0},
    {-0.850076287531594, -0.0711060413533762, 0.979057058098004, 0.79683369085591, 0.0, 0.0,
     0.0, 0.0, 0.0, 0.0, 1.0, 1.0}
};

static double size_of(double x)
{
    return x < 0.0 ? -x : x;
}

static int check(const char *function, int state, int count, double tolerance, const double *got,
    const double *expected)
{
    int i, failures = 0;
    double scale = tolerance;
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

int main(void)
{
    int s, failures = 0;
    for (s = 0; s < 3; s++) {
        {
            double result[2];
            two_link_inverse_dynamics(test_q[s], test_qd[s], test_qdd[s], result);
            failures += check("inverse_dynamics", s, 2, 1e-12, result,
                expected_inverse_dynamics[s]);
        }
        {
            double result[2];
            two_link_forward_dynamics(test_q[s], test_qd[s], test_tau[s], result);
            failures += check("forward_dynamics", s, 2, 1e-10, result,
                expected_forward_dynamics[s]);
        }
        {
            double result[4];
            two_link_mass_matrix(test_q[s], result);
            failures += check("mass_matrix", s, 4, 1e-12, result,
                expected_mass_matrix[s]);
        }
        {
            double result[4];
            two_link_coriolis_matrix(test_q[s], test_qd[s], result);
            failures += check("coriolis_matrix", s, 4, 1e-12, result,
                expected_coriolis_matrix[s]);
        }
        {
            double result[2];
            two_link_gravity_vector(test_q[s], result);
            failures += check("gravity_vector", s, 2, 1e-12, result,
                expected_gravity_vector[s]);
        }
        {
            double result[16];
            two_link_forward_kinematics(test_q[s], result);
            failures += check("forward_kinematics", s, 16, 1e-12, result,
                expected_forward_kinematics[s]);
        }
        {
            double result[12];
            two_link_jacobian(test_q[s], result);
            failures += check("jacobian", s, 12, 1e-12, result,
                expected_jacobian[s]);
        }
    }
    if (!failures)
        printf("ok\n");
    return failures != 0;
}

#endif
