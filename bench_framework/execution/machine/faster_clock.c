/* Lets the monotonic clocks of a program run faster by the share BENCHCTL_FASTER_CLOCK, so that a harness of
   benchmarks measures times that are longer by it. `benchctl gate --self-test` preloads it. Code that reads the
   counter of the processor without clock_gettime is not affected. A wait until a time of such a clock takes too long,
   because the clock of the kernel is behind it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

enum { CLOCKS = 12 };
static int (*next)(clockid_t, struct timespec *);
static double share;
static struct timespec starts[CLOCKS];

static int is_scaled(clockid_t clock) {
    return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_MONOTONIC_COARSE ||
           clock == CLOCK_BOOTTIME;
}

__attribute__((constructor)) static void begin(void) {
    const char *text = getenv("BENCHCTL_FASTER_CLOCK");
    if (next) return; /* Another constructor read a clock before. */
    next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    for (clockid_t clock = 0; clock < CLOCKS; clock++)
        if (is_scaled(clock)) next(clock, &starts[clock]);
    share = text ? atof(text) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    if (!next) begin();
    int failed = next(clock, now);
    if (failed || !is_scaled(clock)) return failed;
    const long second = 1000000000;
    double passed = (double)(now->tv_sec - starts[clock].tv_sec) * second + (now->tv_nsec - starts[clock].tv_nsec);
    long long nanoseconds = now->tv_nsec + (long long)(passed * share);
    now->tv_sec += nanoseconds / second;
    now->tv_nsec = nanoseconds % second;
    return 0;
}
