#include <stdio.h>

static int square(int x) { return x * x; }

int main(int argc, char **argv)
{
	printf("%d\n", square(argc));
	return 0;
}
