// A crash, a signal handler, and a crash in the handler; on an alternate stack
// with the argument "alt".
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static char alternate[1 << 16] __attribute__((aligned(16)));

static NOINLINE void report(int signal) {
	after(signal);
	abort();
}

static NOINLINE void handler(int signal, siginfo_t *info, void *context) {
	(void)context;
	report(signal + (info->si_addr != 0));
	after(2);
}

// The fault is in the function's first instruction: a lookup of the PC minus
// one would find another function.
#if defined __x86_64__
void first(void *p);
__asm__(".text\n.p2align 4\nnop\n.globl first\n.type first,@function\nfirst:\n.cfi_startproc\n"
	"movl $1,(%rdi)\nret\n.cfi_endproc\n.size first,.-first\n");
#else
static NOINLINE void first(void *p) { *(volatile int *)p = 1; }
#endif

static NOINLINE int deep(int n) {
	if (n == 0)
		first((void *)8L);
	else
		deep(n - 1);
	after(n);
	return n;
}

int main(int argc, char **argv) {
	struct sigaction action;
	memset(&action, 0, sizeof action);
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO;
	if (argc > 1 && strcmp(argv[1], "alt") == 0) {
		stack_t stack;
		memset(&stack, 0, sizeof stack);
		stack.ss_size = sizeof alternate;
		stack.ss_sp = alternate;
		sigaltstack(&stack, 0);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGSEGV, &action, 0);
	return deep(5);
}
