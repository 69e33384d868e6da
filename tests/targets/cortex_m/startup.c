/* The first instructions of a Cortex-M: the FPU is switched on, then newlib takes over. */
#include <stdint.h>
#include <stdlib.h>

extern uint32_t stack_top[];
void _start(void);

void reset(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: full access to the FPU */
    __asm__ volatile("dsb\n isb");
    _start();
}

static void fault(void)
{
    abort();
}

typedef void (*entry)(void);

__attribute__((section(".vectors"), used)) static const entry vectors[16] = {
    (entry)(uintptr_t)stack_top, reset, fault, fault, fault, fault, fault,
};
