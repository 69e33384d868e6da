/*
@ABOUT@
 *
 * Compiled for @PLATFORM@. Every function computes a batch: arrays hold one state after the other.
 * A state gets the same bits in any batch. Results must not overlap arguments. Functions keep no
 * state, so that threads may compute parts of a batch. Those with much scratch memory allocate it,
 * and abort where there is none.
 */
#ifndef @UPPER@_KERNELS_H
#define @UPPER@_KERNELS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

@DECLARATIONS@
#ifdef __cplusplus
}
#endif

#endif
