// Generated code, as HotSpot's interpreter makes it: in anonymous executable
// memory, with frame pointers; return addresses are pushed and jumped from, not
// called. It calls itself three times, then die(). A file perf.map names it.
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))

volatile int zero;
NOINLINE static int die(void) { return *(volatile int *)(long)zero + 1; }

extern const char code[], method[], code_end[];
__asm__(".globl code, method, code_end\n");
#if defined __x86_64__
__asm__(".section .rodata\ncode: push %rbp; mov %rsp,%rbp; sub $16,%rsp\n"
	"lea 1f(%rip),%rax; push %rax; jmp method\n1: leave; ret\n"
	"method: push %rbp; mov %rsp,%rbp; sub $192,%rsp; dec %rdi; jz 3f\n"
	"lea 2f(%rip),%rax; push %rax; jmp method\n2: leave; ret\n"
	"3: call *%rsi; leave; ret\ncode_end: .text\n");
#elif defined __aarch64__
__asm__(".section .rodata\n.balign 8\ncode: stp x29,x30,[sp,#-32]!; mov x29,sp\n"
	"adr x30,1f; b method\n1: ldp x29,x30,[sp],#32; ret\n"
	"method: stp x29,x30,[sp,#-192]!; mov x29,sp; subs x0,x0,#1; b.eq 3f\n"
	"adr x30,2f; b method\n2: ldp x29,x30,[sp],#192; ret\n"
	"3: blr x1; ldp x29,x30,[sp],#192; ret\ncode_end: .text\n");
#elif defined __arm__
__asm__(".section .rodata\n.balign 8\n.arm\ncode: push {r11,lr}; add r11,sp,#4; sub sp,sp,#8\n"
	"adr lr,1f; b method\n1: sub sp,r11,#4; pop {r11,pc}\n"
	"method: push {r11,lr}; add r11,sp,#4; sub sp,sp,#184; subs r0,r0,#1; beq 3f\n"
	"adr lr,2f; b method\n2: sub sp,r11,#4; pop {r11,pc}\n"
	"3: blx r1; sub sp,r11,#4; pop {r11,pc}\ncode_end: .text\n");
#endif

// stale leaves return addresses on the stack.
NOINLINE static int stale(int n) {
	char text[600];
	int at = snprintf(text, sizeof text, "%d %f %s", n, n / 3.0, "text");
	return text[at / 2] + (n > 0 ? stale(n - 1) : 0);
}

NOINLINE static int run(char *to) { return ((int (*)(long, int (*)(void)))(void *)to)(4, die) + 1; }

int main(int argc, char **argv) {
	char *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(p, code, code_end - code);
	__builtin___clear_cache(p, p + (code_end - code));
	FILE *f = fopen("perf.map", "w");
	if (f) {
		fprintf(f, "%lx %lx stub\n%lx %lx method\n", (long)p, (long)(method - code), (long)(p + (method - code)), (long)(code_end - method));
		fclose(f);
	}
	return stale(argc + 2) + run(p);
}
