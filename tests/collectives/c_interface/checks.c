#include "checks.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int failures;

void check_that(bool holds, const char* file, int line, const char* format, ...) {
  if (holds) return;
  atomic_fetch_add(&failures, 1);
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s:%d: %s\n", file, line, text);
}

int failure_count(void) { return atomic_load(&failures); }
