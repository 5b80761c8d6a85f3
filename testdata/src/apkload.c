/* Maps libraries as Android's linker does and calls them: from inside an APK, which stores them without compression, or
   from files of their own. Each argument is APK!/MEMBER or FILE. A library's entry point is a function that calls the
   function that it is given; the last library is given none and crashes.

   gcc -O1 -g -o apkload apkload.c */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef int next_fn(int);
typedef int enter_fn(next_fn *next, int depth);

static void fail(const char *what) { perror(what); exit(2); }

static unsigned u16(const unsigned char *p) { return p[0] | p[1] << 8; }
static unsigned u32(const unsigned char *p) { return u16(p) | u16(p + 2) << 16; }

/* The offset of a stored member, by the central directory (APPNOTE 4.3.12, 4.3.16). */
static long member(const unsigned char *zip, long size, const char *name)
{
    long end = size - 22;
    while (end >= 0 && u32(zip + end) != 0x06054b50)
        end--;
    if (end < 0)
        return -1;
    const unsigned char *entry = zip + u32(zip + end + 16);
    for (unsigned n = u16(zip + end + 10); n > 0; n--) {
        unsigned length = u16(entry + 28);
        if (length == strlen(name) && memcmp(entry + 46, name, length) == 0 && u16(entry + 10) == 0) {
            const unsigned char *local = zip + u32(entry + 42);
            return local - zip + 30 + u16(local + 26) + u16(local + 28);
        }
        entry += 46 + length + u16(entry + 30) + u16(entry + 32);
    }
    return -1;
}

static enter_fn *load(char *path)
{
    char *name = strstr(path, "!/");
    if (name)
        *name = 0, name += 2;
    int fd = open(path, O_RDONLY);
    struct stat st;
    if (fd < 0 || fstat(fd, &st))
        fail(path);
    long start = 0;
    if (name) {
        const unsigned char *zip = mmap(0, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        start = member(zip, st.st_size, name);
        munmap((void *)zip, st.st_size);
        if (start < 0 || start % getpagesize())
            fail(name);
    }

    ElfW(Ehdr) header;
    if (pread(fd, &header, sizeof header, start) != sizeof header)
        fail(path);
    ElfW(Phdr) segments[16];
    unsigned n = header.e_phnum;
    if (n > 16 || pread(fd, segments, n * sizeof *segments, start + header.e_phoff) < 0)
        fail(path);

    unsigned long page = getpagesize(), end = 0;
    for (unsigned i = 0; i < n; i++)
        if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr + segments[i].p_memsz > end)
            end = segments[i].p_vaddr + segments[i].p_memsz;
    char *base = mmap(0, end, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (unsigned i = 0; i < n; i++) {
        ElfW(Phdr) *s = &segments[i];
        if (s->p_type != PT_LOAD)
            continue;
        unsigned long from = s->p_vaddr & -page, before = s->p_vaddr - from;
        int prot = (s->p_flags & PF_R ? PROT_READ : 0) | (s->p_flags & PF_W ? PROT_WRITE : 0) | (s->p_flags & PF_X ? PROT_EXEC : 0);
        if (mmap(base + from, s->p_filesz + before, prot, MAP_PRIVATE | MAP_FIXED, fd, start + s->p_offset - before) == MAP_FAILED)
            fail(path);
        if (prot & PROT_WRITE)
            base[s->p_vaddr] = base[s->p_vaddr]; /* a page of its own, as after relocation */
    }
    close(fd);
    return (enter_fn *)(base + header.e_entry);
}

static char **rest;

__attribute__((noinline)) int call_next(int depth)
{
    enter_fn *enter = load(*rest++);
    return enter(*rest ? call_next : 0, depth) + 1;
}

int main(int argc, char **argv)
{
    rest = argv + 1;
    return argc > 1 ? call_next(1) : 2;
}
