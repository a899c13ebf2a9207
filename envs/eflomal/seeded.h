/* Read before eflomal's sources: lets a file named by XLING_EFLOMAL_SEED stand in for /dev/urandom, its only seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline FILE *open_seeded(const char *path, const char *mode) {
    const char *seed = getenv("XLING_EFLOMAL_SEED");
    return fopen(seed && !strcmp(path, "/dev/urandom") ? seed : path, mode);
}

#define fopen(path, mode) open_seeded(path, mode)
