/* Counts the allocations of a program that reach the next library with malloc (see preloads.py).
   It is the first library of LD_PRELOAD in a run that is not timed. Allocations by libc, by the
   loader and by the allocator itself do not count: a program with its own allocator causes some. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

static struct {
    unsigned long count;
    char library[PATH_MAX];
} *report; /* The file of BENCHCTL_ALLOCATIONS, which all processes of the run share. */
static struct {
    ElfW(Addr) member, start, end;
} excluded[3];
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static int (*next_posix_memalign)(void **, size_t, size_t);

static int find_range(struct dl_phdr_info *object, size_t size, void *unused) {
    ElfW(Addr) start = -1, end = 0;
    for (int n = 0; n < object->dlpi_phnum; n++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[n];
        if (part->p_type != PT_LOAD) continue;
        ElfW(Addr) from = object->dlpi_addr + part->p_vaddr, to = from + part->p_memsz;
        if (from < start) start = from;
        if (to > end) end = to;
    }
    for (int n = 0; n < 3; n++)
        if (start <= excluded[n].member && excluded[n].member < end)
            excluded[n].start = start, excluded[n].end = end;
    return 0;
}

static void resolve(void) {
    static int busy; /* dlsym may allocate in old versions of glibc. */
    if (next_malloc || busy) return;
    busy = 1;
    next_calloc = dlsym(RTLD_NEXT, "calloc");
    next_realloc = dlsym(RTLD_NEXT, "realloc");
    next_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
    next_malloc = dlsym(RTLD_NEXT, "malloc");
}

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("BENCHCTL_ALLOCATIONS"), *program = getenv("BENCHCTL_PROGRAM");
    char self[PATH_MAX] = "";
    Dl_info next;
    resolve();
    if (!path || readlink("/proc/self/exe", self, sizeof self - 1) < 0) return;
    if (program && *program && strcmp(program, self)) return; /* another program of the run */
    int file = open(path, O_RDWR | O_CLOEXEC);
    void *shared = mmap(0, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (shared == MAP_FAILED || !dladdr((void *)next_malloc, &next)) return;
    excluded[0].member = (ElfW(Addr))next_malloc;
    excluded[1].member = (ElfW(Addr))dlsym(RTLD_NEXT, "gnu_get_libc_version");
    excluded[2].member = getauxval(AT_BASE);
    dl_iterate_phdr(find_range, 0);
    report = shared;
    strncpy(report->library, next.dli_fname, sizeof report->library - 1);
}

static void count(void *caller) {
    resolve();
    if (!report) return;
    for (int n = 0; n < 3; n++)
        if (excluded[n].start <= (ElfW(Addr))caller && (ElfW(Addr))caller < excluded[n].end) return;
    __atomic_fetch_add(&report->count, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size) {
    count(__builtin_return_address(0));
    return next_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(__builtin_return_address(0));
    return next_calloc ? next_calloc(number, size) : 0;
}

void *realloc(void *old, size_t size) {
    count(__builtin_return_address(0));
    return next_realloc(old, size);
}

int posix_memalign(void **to, size_t alignment, size_t size) {
    count(__builtin_return_address(0));
    return next_posix_memalign(to, alignment, size);
}
