// The program's own malloc and related functions. They count while counting is on, and then call the functions of the C
// library, which glibc exports under a second name for this purpose. Symbols of the executable take precedence over
// those of the libraries.
#include "CAllocations.h"
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static bool counting;
static atomic_size_t made;
static atomic_long live;

void allocations_count(bool on) {
  if (on) { made = 0; live = 0; }
  counting = on;
}
size_t allocations_made(void) { return made; }
long allocations_live_bytes(void) { return live; }

static void *note(void *block) {
  if (__builtin_expect(counting, false) && block) {
    made++;
    live += (long)malloc_usable_size(block);
  }
  return block;
}

void *malloc(size_t size) { return note(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return note(__libc_calloc(count, size)); }
void *memalign(size_t alignment, size_t size) { return note(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return note(__libc_memalign(alignment, size)); }
int posix_memalign(void **block, size_t alignment, size_t size) {
  *block = note(__libc_memalign(alignment, size));
  return *block ? 0 : ENOMEM;
}
void free(void *block) {
  if (__builtin_expect(counting, false) && block) live -= (long)malloc_usable_size(block);
  __libc_free(block);
}
void *realloc(void *block, size_t size) {
  if (__builtin_expect(counting, false) && block) live -= (long)malloc_usable_size(block);
  return note(__libc_realloc(block, size));
}
