// LD_PRELOAD: who opens the file $FROM for reading gets $TO. llvm-gsymutil --verify verifies no file but the one that it
// has just written.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *redirected(const char *path, int flags) {
  const char *from = getenv("FROM"), *to = getenv("TO");
  if ((flags & O_ACCMODE) == O_RDONLY && from && to && strcmp(path, from) == 0)
    return to;
  return path;
}

#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    va_list args;                                                              \
    va_start(args, flags);                                                     \
    int mode = va_arg(args, int);                                              \
    va_end(args);                                                              \
    int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, #name);             \
    return next(redirected(path, flags), flags, mode);                         \
  }

OPEN(open)
OPEN(open64)
