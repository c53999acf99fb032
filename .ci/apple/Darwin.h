// A stand-in for the C declarations of Apple's SDKs that the library uses, as the headers there have them. It allows
// type-checking what is compiled for Apple's platforms only.

#pragma clang assume_nonnull begin
typedef unsigned long size_t;
typedef long ssize_t;

// pthread.h
struct _opaque_pthread_t { long signature; };
typedef struct _opaque_pthread_t *pthread_t;
typedef unsigned long pthread_key_t;
pthread_t pthread_self(void);
int pthread_main_np(void);
size_t pthread_get_stacksize_np(pthread_t);
void *pthread_get_stackaddr_np(pthread_t);
int pthread_key_create(pthread_key_t *, void (*_Nullable)(void *));
void *_Nullable pthread_getspecific(pthread_key_t);
int pthread_setspecific(pthread_key_t, const void *_Nullable);
#pragma clang assume_nonnull end

// stdlib.h, stdio.h, string.h, unistd.h
typedef struct { int descriptor; } FILE;
void *malloc(size_t);
void free(void *);
ssize_t write(int, const void *, size_t);
FILE *fopen(const char *, const char *);
size_t fwrite(const void *, size_t, size_t, FILE *);
int fclose(FILE *);
char *strerror(int);

// malloc/malloc.h
size_t malloc_size(const void *);

// dlfcn.h
typedef struct {
  const char *dli_fname;
  void *dli_fbase;
  const char *dli_sname;
  void *dli_saddr;
} Dl_info;
int dladdr(const void *, Dl_info *);

// mach/mach.h
typedef int kern_return_t;
typedef unsigned mach_port_t;
typedef unsigned long vm_address_t;
typedef unsigned long vm_size_t;
#define KERN_SUCCESS 0
// The SDK of macOS 15.4 and later ones say that any thread may use it.
extern mach_port_t mach_task_self_ __attribute__((swift_attr("nonisolated(unsafe)")));
kern_return_t vm_read_overwrite(mach_port_t, vm_address_t, vm_size_t, vm_address_t, vm_size_t *);

// Used by what stands in for the module Synchronization, which was written for Linux.
unsigned _swift_stdlib_gettid(void);
