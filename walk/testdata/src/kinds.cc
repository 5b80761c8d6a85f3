// Ways to die, one for each argument; without one, their names. All but the
// last group die below main and four calls of descend.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ctime>
#include <future>
#include <stdexcept>
#include <thread>
#include <ucontext.h>
#include <unistd.h>

#include "common.h"

typedef void (*Call)();

static NOINLINE void leaf() { die(); }

// Calls to what is no code.
static NOINLINE void call(Call to) {
	to();
	after(1);
}
static void garbage() { call(Call(0x12345678L)); }
static char variable[64];
static void data() { call(Call((void *)variable)); }
static void heap() { call(Call(calloc(1, 64))); }

// Code that no module has, calling leaf: with a frame pointer and without.
static void generated(const unsigned char *code, size_t size, size_t target) {
	auto *p = (unsigned char *)mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	Call f = leaf;
	memcpy(p, code, size);
	memcpy(p + target, &f, sizeof f);
	call(Call((void *)p));
}
#if defined __x86_64__
static void framed() { // push %rbp; mov %rsp,%rbp; mov $leaf,%rax; call *%rax; pop %rbp; ret
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
	generated(code, sizeof code, 6);
}
static void frameless() { // sub $24,%rsp; mov $leaf,%rax; call *%rax; add $24,%rsp; ret
	static const unsigned char code[] = {0x48, 0x83, 0xec, 24, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x48, 0x83, 0xc4, 24, 0xc3};
	generated(code, sizeof code, 6);
}
#else
static void framed() {
	static const unsigned char code[] = {0x55, 0x89, 0xe5, 0xb8, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
	generated(code, sizeof code, 4);
}
static void frameless() {
	static const unsigned char code[] = {0x83, 0xec, 28, 0xb8, 0, 0, 0, 0, 0xff, 0xd0, 0x83, 0xc4, 28, 0xc3};
	generated(code, sizeof code, 4);
}
#endif

// In the C library, in the kernel's vdso, by the C library, by the C++ library.
static void library() { after((int)strlen((char *)(long)zero)); }
static void vdso() { after(clock_gettime(CLOCK_MONOTONIC, (timespec *)(long)(zero + 16))); }
static void corrupt() {
	char *volatile p = (char *)malloc(32);
	free(p + 8 + zero);
	after(1);
}
static NOINLINE void thrower() noexcept {
	if (!zero)
		throw std::runtime_error("out of noexcept");
	after(1);
}
static void terminate() {
	thrower();
	after(1);
}

// Other signals.
static void arithmetic() { after(5 / zero); }
static void illegal() { __builtin_trap(); }
static void bus() {
	FILE *f = tmpfile();
	if (ftruncate(fileno(f), 4096) == 0)
		((volatile char *)mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(f), 0))[5000] = 1;
	after(1);
}

// Handlers in handlers, of a signal that interrupted a system call.
static void handler(int signal) {
	if (signal == SIGUSR1)
		raise(SIGUSR2);
	else
		leaf();
	after(signal);
}
static void nested() {
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	raise(SIGUSR1);
	after(1);
}
static void interrupted() {
	int ends[2];
	char c;
	signal(SIGALRM, handler);
	ualarm(20000, 0);
	if (pipe(ends) == 0)
		after((int)read(ends[0], &c, 1));
}

// Code whose permission is taken away.
static void forbidden() {
	mprotect((void *)((unsigned long)&leaf & ~4095UL), 4096, PROT_READ);
	leaf();
	after(1);
}

// Assembly without unwind rules.
extern "C" void bare();
extern "C" __attribute__((visibility("hidden"), used)) void bare_target() {
	die();
	after(1);
}
#if defined __x86_64__
__asm__(".text\n.globl bare\n.type bare,@function\nbare:\nsub $40,%rsp\ncall bare_target\nadd $40,%rsp\nret\n.size bare,.-bare\n");
#else
__asm__(".text\n.globl bare\n.type bare,@function\nbare:\nsub $44,%esp\ncall bare_target\nadd $44,%esp\nret\n.size bare,.-bare\n");
#endif
static void assembly() {
	bare();
	after(1);
}

// The return address is overwritten.
static NOINLINE void smash() {
	volatile unsigned long words[2];
	volatile unsigned long *p = words;
	for (int i = 0; i < 8 + zero; i++)
		p[i] = 0x41414141UL;
}
static void smashed() {
	smash();
	after(1);
}

// Threads: one that dies in a lambda while others wait in all ways. None dies
// while main is still inside of clone.
static std::atomic<bool> ready;
static void wait() {
	while (!ready)
		usleep(1000);
	usleep(50000);
}
static void threads() {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	pthread_mutex_lock(&lock);
	std::thread([] { pthread_mutex_lock(&lock); }).detach();
	std::thread([] {
		static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
		pthread_mutex_lock(&own);
		pthread_cond_wait(&never, &own);
	}).detach();
	std::thread([] { after((int)sleep(100)); }).detach();
	std::thread([] {
		int ends[2];
		char c;
		if (pipe(ends) == 0)
			after((int)read(ends[0], &c, 1));
	}).detach();
	std::thread dying([](int n) {
		wait();
		leaf();
		after(n);
	}, 3);
	ready = true;
	dying.join();
}
static void future() {
	auto f = std::async(std::launch::async, [] {
		wait();
		leaf();
		return 3;
	});
	ready = true;
	after(f.get());
}

// On other stacks: a coroutine, a cloned and a vforked child; after main.
static ucontext_t back, other;
static char stack[1 << 16] __attribute__((aligned(16)));
static void routine() {
	leaf();
	after(1);
}
static void coroutine() {
	getcontext(&other);
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = sizeof stack;
	other.uc_link = &back;
	makecontext(&other, routine, 0);
	swapcontext(&back, &other);
	after(1);
}
static void waitFor(pid_t child) {
	int status;
	waitpid(child, &status, 0);
	_exit(0);
}
static int child(void *) {
	leaf();
	after(1);
	return 0;
}
static void cloned() { waitFor(clone(child, stack + sizeof stack, CLONE_VM | SIGCHLD, nullptr)); }
static void vforked() {
	pid_t pid = vfork();
	if (pid == 0) {
		leaf();
		_exit(1);
	}
	waitFor(pid);
}
static void atend() {
	atexit([] {
		leaf();
		after(1);
	});
	exit(0);
}

static NOINLINE int descend(int n, Call f) {
	if (n == 0)
		f();
	else
		after(descend(n - 1, f));
	after(n);
	return n + 1;
}

static const struct {
	const char *name;
	Call f;
} kinds[] = {
	{"leaf", leaf}, {"garbage", garbage}, {"data", data}, {"heap", heap}, {"framed", framed}, {"frameless", frameless},
	{"library", library}, {"vdso", vdso}, {"corrupt", corrupt}, {"terminate", terminate},
	{"arithmetic", arithmetic}, {"illegal", illegal}, {"bus", bus}, {"nested", nested}, {"interrupted", interrupted},
	{"forbidden", forbidden}, {"assembly", assembly}, {"smashed", smashed},
	{"threads", threads}, {"future", future}, {"coroutine", coroutine}, {"cloned", cloned}, {"vforked", vforked},
	{"atend", atend},
};

int main(int argc, char **argv) {
	for (auto &kind : kinds)
		if (argc < 2)
			puts(kind.name);
		else if (strcmp(argv[1], kind.name) == 0)
			after(descend(3, kind.f));
	return 0;
}
