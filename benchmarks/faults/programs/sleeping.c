/* libfaketime 0.9.10 answers EINVAL to an absolute sleep on the monotonic clock, which Python's time.sleep
 * is, if that clock is not faked. Loaded before it, this passes such sleeps on to the kernel. */
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *request, struct timespec *left)
{
    return syscall(SYS_clock_nanosleep, clock, flags, request, left) ? errno : 0;
}
