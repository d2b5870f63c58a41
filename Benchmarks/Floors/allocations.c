/* Counts a process's allocations, for `tidings bench live --allocations FILE`.

   LD_PRELOAD=allocations.so ALLOCATIONS_FILE=FILE PROGRAM

   FILE holds one number of eight bytes: calls of malloc, calloc, realloc and the aligned ones, of all threads together. */

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Glibc's own, under the names it keeps for programs that stand before them. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);

static _Atomic uint64_t before_the_file, *counter = &before_the_file;

__attribute__((constructor)) static void open_file(void) {
    const char *path = getenv("ALLOCATIONS_FILE");
    int file = path ? open(path, O_RDWR | O_CREAT, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof *counter)) return;
    void *mapped = mmap(NULL, sizeof *counter, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) counter = mapped;
    close(file);
}

static void count(void) { atomic_fetch_add_explicit(counter, 1, memory_order_relaxed); }

void *malloc(size_t size) { return count(), __libc_malloc(size); }
void *calloc(size_t number, size_t size) { return count(), __libc_calloc(number, size); }
void *realloc(void *old, size_t size) { return count(), __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size) { return count(), __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **to, size_t alignment, size_t size) { return (*to = memalign(alignment, size)) ? 0 : ENOMEM; }
