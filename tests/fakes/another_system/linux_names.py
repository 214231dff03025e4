"""Names of the standard library that exist on Linux and not on macOS."""

NAMES = {
    "os": """copy_file_range eventfd eventfd_read eventfd_write fdatasync getrandom getresgid getresuid getxattr
        listxattr memfd_create pidfd_open pipe2 posix_fadvise posix_fallocate removexattr
        sched_getaffinity sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity
        sched_setparam sched_setscheduler setns setresgid setresuid setxattr splice timerfd_create
        timerfd_settime unshare O_DIRECT O_LARGEFILE O_NOATIME O_PATH O_RSYNC O_TMPFILE""",
    "fcntl": "F_ADD_SEALS F_GET_SEALS F_NOTIFY F_SETPIPE_SZ F_GETPIPE_SZ F_SETSIG F_SETLEASE F_OFD_SETLK F_OFD_SETLKW",
    "mmap": "MAP_POPULATE MADV_COLD MADV_HUGEPAGE MADV_PAGEOUT MADV_REMOVE",
    "resource": """prlimit RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RTPRIO RLIMIT_RTTIME RLIMIT_SIGPENDING RUSAGE_THREAD""",
    "select": "epoll EPOLLIN EPOLLOUT EPOLLERR EPOLLHUP EPOLLET EPOLL_CLOEXEC",
    "signal": """pidfd_send_signal sigtimedwait sigwaitinfo SIGCLD SIGPOLL SIGPWR SIGRTMAX SIGRTMIN SIGSTKFLT""",
    "socket": "AF_ALG AF_CAN AF_NETLINK AF_PACKET AF_VSOCK SO_BINDTODEVICE SO_MARK",
    "time": "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
}
