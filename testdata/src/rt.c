// The entry point and as much of the C++ run-time library as the fixtures need
// to link; nothing here unwinds. Compiled without -g: its functions become
// PUBLIC records.
typedef __SIZE_TYPE__ size_t;

int run(int argument);

void _start(void) {
	run(42);
	for (;;)
		__builtin_trap();
}

// The vtables std::type_info objects point to.
void *_ZTVN10__cxxabiv117__class_type_infoE[8];
void *_ZTVN10__cxxabiv120__si_class_type_infoE[8];

static char exception[64];

void *__cxa_allocate_exception(size_t size) { return size <= sizeof exception ? exception : 0; }
void __cxa_free_exception(void *thrown) { (void)thrown; }
void __cxa_throw(void *thrown, void *type, void (*destroy)(void *)) {
	(void)thrown, (void)type, (void)destroy;
	for (;;)
		__builtin_trap();
}
void *__cxa_begin_catch(void *thrown) { return thrown; }
void __cxa_end_catch(void) {}
void __cxa_end_cleanup(void) {}
void __cxa_pure_virtual(void) { __builtin_trap(); }
void _Unwind_Resume(void *thrown) { (void)thrown; }
void __gxx_personality_v0(void) {}
void __gcc_personality_v0(void) {}
void _ZSt9terminatev(void) { __builtin_trap(); }
void _ZdlPv(void *object) { (void)object; }
void _ZdlPvj(void *object, unsigned size) { (void)object, (void)size; }
void _ZdlPvm(void *object, unsigned long size) { (void)object, (void)size; }
void __aeabi_unwind_cpp_pr0(void) {}
void __aeabi_unwind_cpp_pr1(void) {}
void __aeabi_unwind_cpp_pr2(void) {}

void *memset(void *to, int byte, size_t count) {
	for (volatile char *p = to; count > 0; count--)
		*p++ = (char)byte;
	return to;
}

void *memcpy(void *to, const void *from, size_t count) {
	const char *q = from;
	for (volatile char *p = to; count > 0; count--)
		*p++ = *q++;
	return to;
}
