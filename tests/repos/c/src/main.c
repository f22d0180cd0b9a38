#include <stdio.h>
#include "store.h"
#include <shop/api.h>
/* #include "never.h" */
/*
#include "never.h"
*/

int main(void) { return 0; }
