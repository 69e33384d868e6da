/* Whole batches by compiled kernels; @PREFIX@_kernels.h says what is computed. */
#include "@PREFIX@_kernels.h"

#include <stdint.h>

@FUNCTIONS@