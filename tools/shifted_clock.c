/* Shifts the calendar clock of the programs that load it, by CLOCK_SHIFT_S seconds. Durations stay as they are:
 * the monotonic clock is not touched. For tools/shuffled_tests.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static long shift_s(void) {
  static long shift;
  static int is_read;
  if (!is_read) {
    const char *text = getenv("CLOCK_SHIFT_S");
    shift = text ? atol(text) : 0;
    is_read = 1;
  }
  return shift;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += shift_s();
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  struct timespec moment;
  (void)zone;
  int result = clock_gettime(CLOCK_REALTIME, &moment);
  now->tv_sec = moment.tv_sec;
  now->tv_usec = moment.tv_nsec / 1000;
  return result;
}

time_t time(time_t *now) {
  struct timespec moment;
  clock_gettime(CLOCK_REALTIME, &moment);
  if (now) *now = moment.tv_sec;
  return moment.tv_sec;
}
