/* What fmu.c must know of @PREFIX@. */
#ifndef FMU_MODEL_H
#define FMU_MODEL_H

#include "@PREFIX@.h"

#define TOKEN "@TOKEN@"
#define JOINTS @JOINTS@
#define VARIABLES @VARIABLES@
#define STARTS { @STARTS@ }
/* Accelerations of the joints, with v all variables by their reference. */
#define ACCELERATION(v, q, qd, qdd) \
    @PREFIX@_forward_dynamics(q, qd, (v) + 1@MORE@, qdd)

#endif
