/* Prints @FUNCTION@ where all arguments are zero. */
#include <@PREFIX@.h>

#include <stdio.h>

int main(void)
{
@ARGUMENTS@
    @REAL@ result[@SIZE@];
    int i;
    @CALL@
    for (i = 0; i < @SIZE@; i++)
        printf("%.17g\n", (double)result[i]);
    return 0;
}
