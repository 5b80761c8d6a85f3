// Crashes two calls deep. It needs no C library, so that its cores, of which
// mutants are made, are small: see scripts/soak-cores.sh.
#define NOINLINE __attribute__((noinline))

struct node {
	struct node *next;
	int value;
};

static volatile int sink;

static NOINLINE int innermost(struct node *n) { return n->next->value + sink; }

static NOINLINE int middle(struct node *n, int k) {
	int r = innermost(n) * k;
	sink += r;
	return r + 1;
}

NOINLINE void outer(int k) {
	struct node n = {0, k};
	sink = middle(&n, k) + 1;
}

void start(void) {
	outer(3);
	for (;;)
		sink++;
}
