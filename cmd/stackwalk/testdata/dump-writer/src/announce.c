/* Adds the libraries that apkload.c has mapped to the list of the dynamic linker, as Android's linker does: Crashpad reads
   that list, where Breakpad reads /proc/PID/maps. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const *names; /* of the libraries, in the order in which they are mapped */
static unsigned long lowest = -1UL;

void announce(const char *const *list) { names = list; }

/* The loader closes the file of a library that is mapped. The library lies below those that were mapped before. */
int announce_library(int fd)
{
    char path[4096], line[8192];
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, sizeof path - 1);
    path[n < 0 ? 0 : n] = 0;
    unsigned long base = 0, from, to;
    FILE *maps = names ? fopen("/proc/self/maps", "r") : 0;
    while (maps && !base && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx r--p", &from, &to) == 2 && strstr(line, path) && from < lowest && memcmp((void *)from, ELFMAG, 4) == 0)
            base = from;
    if (maps)
        fclose(maps);
    if (!base)
        return close(fd);
    lowest = base;
    const ElfW(Ehdr) *header = (void *)base;
    const ElfW(Phdr) *segment = (void *)(base + header->e_phoff);
    struct link_map *library = calloc(1, 1 << 16), *last = _r_debug.r_map;
    library->l_addr = base;
    library->l_name = (char *)*names++;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (segment[i].p_type == PT_DYNAMIC)
            library->l_ld = (void *)(base + segment[i].p_vaddr);
    while (last->l_next)
        last = last->l_next;
    last->l_next = library;
    library->l_prev = last;
    return close(fd);
}
