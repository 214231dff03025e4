/* A library for LD_PRELOAD that lets file operations below a folder fail, logs them, and shifts the clock.

   BENCHCTL_ATTACK names a file that holds `struct state`. All processes of a run map it, so that they share one
   count of operations. `arm` does the same in a process that was forked and not executed. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct state {
    uint64_t count, first, last; /* operations so far; the first and the last one that fail, from 1 */
    int64_t error, half, offset_s; /* errno; 1: the first failing write stores half of its bytes; clock */
    char folder[512], log[512];
};
static struct state *state;
static int log_fd = -1;

void arm(const char *path) {
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    void *map = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    syscall(SYS_close, fd);
    if (fd < 0 || map == MAP_FAILED) return; /* another user's file: nothing fails */
    state = map;
    log_fd = syscall(SYS_openat, AT_FDCWD, state->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("BENCHCTL_ATTACK");
    if (path) arm(path);
}

static uint64_t failing(const char *what, const char *path) { /* the number of the operation if it fails */
    char full[4096], line[4400];
    struct stat file = {0};
    if (!state) return 0;
    if (path[0] != '/') {
        if (!getcwd(full, 2048)) return 0;
        strcat(full, "/"), strncat(full, path, 2000), path = full;
    }
    size_t length = strlen(state->folder);
    if (strncmp(path, state->folder, length) || path[length] != '/') return 0;
    uint64_t n = __atomic_add_fetch(&state->count, 1, __ATOMIC_SEQ_CST);
    stat(path, &file);
    int size = snprintf(line, sizeof line, "%lu\t%s\t%ld\t%s\n", n, what, (long)file.st_size, path + length + 1);
    syscall(SYS_write, log_fd, line, size);
    if (n < state->first || n > state->last) return 0;
    errno = state->error;
    return n;
}

static uint64_t failing_fd(const char *what, int fd) {
    char link[64], path[4096];
    if (!state) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size <= 0 || path[0] != '/') return 0;
    path[size] = 0;
    return failing(what, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
static int new_file(const char *path, int flags) { return (flags & O_CREAT) && access(path, F_OK); }
#define OPEN(name)                                                                        \
    int name(const char *path, int flags, ...) {                                          \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        return new_file(path, flags) && failing("create", path) ? -1 : REAL(name)(path, flags, mode); \
    }
#define OPENAT(name)                                                                      \
    int name(int at, const char *path, int flags, ...) {                                  \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        if (at == AT_FDCWD && new_file(path, flags) && failing("create", path)) return -1;  \
        return REAL(name)(at, path, flags, mode);                                         \
    }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)

#define WRITE(name, parameters, ...)                                                      \
    ssize_t name parameters {                                                             \
        uint64_t n = failing_fd("write", fd);                                             \
        if (n && !(state->half && n == state->first && size > 1)) return -1;              \
        if (n) size /= 2;                                                                 \
        return REAL(name)(__VA_ARGS__);                                                   \
    }
WRITE(write, (int fd, const void *data, size_t size), fd, data, size)
WRITE(pwrite, (int fd, const void *data, size_t size, off_t at), fd, data, size, at)
WRITE(pwrite64, (int fd, const void *data, size_t size, off64_t at), fd, data, size, at)

int fsync(int fd) { return failing_fd("sync", fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return failing_fd("sync", fd) ? -1 : REAL(fdatasync)(fd); }
int mkdir(const char *path, mode_t mode) { return failing("mkdir", path) ? -1 : REAL(mkdir)(path, mode); }
int rename(const char *from, const char *to) { return failing("rename", to) ? -1 : REAL(rename)(from, to); }

int statvfs(const char *path, struct statvfs *room) { /* a disk that is full from the failing operation on */
    int result = REAL(statvfs)(path, room);
    if (state && state->error == ENOSPC && state->count >= state->first && state->count <= state->last) room->f_bavail = 0;
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (state && clock == CLOCK_REALTIME && !result) time->tv_sec += state->offset_s;
    return result;
}
