/* A disk that is small, loses power, fills up, refuses and is slow, for one process, by way of LD_PRELOAD.
 *
 * TIDINGS_DISK_FILE     the database; calls on it and on files whose names begin with its name are concerned
 * TIDINGS_DISK_CONTROL  a file of four 32-bit numbers, which may change at any time:
 *                       milliseconds each sync takes longer, errno of every write, errno of every sync, KiB of a small
 *                       disk that holds nothing but the database and its companions (0: the real one)
 * TIDINGS_DISK_LOG      if set, every write since the last sync of its file is kept here with what it overwrote, so that
 *                       disk.py can take back what a loss of power would not have left
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, TRUNCATE = 2, SYNC = 3, FILES = 8 };

struct record {
    uint32_t kind, path_length;
    uint64_t offset, new_length, old_length, old_size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *file;
static size_t file_length;
static volatile uint32_t *control;
static int log_fd = -1;
/* Files with writes that are not synced, by name. */
static char dirty[FILES][256];

static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_write)(int, const void *, size_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void start(void) {
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_write = dlsym(RTLD_NEXT, "write");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    file = getenv("TIDINGS_DISK_FILE");
    file_length = file ? strlen(file) : 0;
    const char *path = getenv("TIDINGS_DISK_CONTROL");
    int fd = path ? open(path, O_RDONLY) : -1;
    if (fd >= 0) {
        void *page = mmap(NULL, 16, PROT_READ, MAP_SHARED, fd, 0);
        if (page != MAP_FAILED) control = page;
        close(fd);
    }
    if ((path = getenv("TIDINGS_DISK_LOG"))) log_fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

/* The name of the file, if it is the database's. */
static int concerned(int fd, char path[256]) {
    if (!file || fd < 3) return 0;
    int error = errno;
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, 255);
    errno = error;
    if (length < 0) return 0;
    path[length] = 0;
    return strncmp(path, file, file_length) == 0;
}

static void append(const void *bytes, size_t count) {
    const char *next = bytes;
    while (count > 0) {
        ssize_t done = real_write(log_fd, next, count);
        if (done <= 0) abort();
        next += done;
        count -= (size_t)done;
    }
}

/* Keeps what is about to be lost. Called with the lock held, before the call itself. */
static void keep(int fd, const char *path, uint32_t kind, off_t offset, const void *bytes, size_t count) {
    struct stat status;
    if (log_fd < 0 || fstat(fd, &status) != 0) return;
    uint64_t size = (uint64_t)status.st_size, at = (uint64_t)offset;
    uint64_t left = at < size ? size - at : 0;
    size_t old_length = (size_t)(kind == TRUNCATE ? left : left < count ? left : count);
    struct record record = {kind, (uint32_t)strlen(path), at, count, old_length, size};
    size_t whole = sizeof record + record.path_length + old_length + count;
    char *all = malloc(whole), *next = all;
    if (!all) abort();
    next = mempcpy(next, &record, sizeof record);
    next = mempcpy(next, path, record.path_length);
    if (old_length && pread(fd, next, old_length, offset) != (ssize_t)old_length) abort();
    if (count) memcpy(next + old_length, bytes, count);
    append(all, whole);
    free(all);
    int slot = -1;
    for (int index = 0; index < FILES; index++) {
        if (strcmp(dirty[index], path) == 0) return;
        if (!dirty[index][0]) slot = index;
    }
    if (slot < 0) abort();
    strcpy(dirty[slot], path);
}

/* What was written to the file is safe now. */
static void forget(const char *path) {
    if (log_fd < 0) return;
    int left = 0;
    for (int index = 0; index < FILES; index++) {
        if (strcmp(dirty[index], path) == 0) dirty[index][0] = 0;
        left += dirty[index][0] != 0;
    }
    if (!left) {
        if (real_ftruncate(log_fd, 0) != 0) abort();
        return;
    }
    struct record record = {SYNC, (uint32_t)strlen(path), 0, 0, 0, 0};
    append(&record, sizeof record);
    append(path, record.path_length);
}

/* What is left of the small disk, in bytes. */
static uint64_t room(void) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal"};
    uint64_t all = (uint64_t)control[3] << 10, used = 0;
    for (int index = 0; index < 4; index++) {
        char path[512];
        struct stat status;
        snprintf(path, sizeof path, "%s%s", file, endings[index]);
        if (stat(path, &status) == 0) used += (uint64_t)status.st_size;
    }
    return used < all ? all - used : 0;
}

/* Whether a write would make its file grow by more than there is. */
static int overflows(int fd, size_t count, off_t offset) {
    struct stat status;
    if (!control || !control[3] || fstat(fd, &status) != 0) return 0;
    uint64_t end = (uint64_t)offset + count, size = (uint64_t)status.st_size;
    return end > size && end - size > room();
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    char path[256];
    if (!concerned(fd, path)) return real_pwrite(fd, bytes, count, offset);
    if (control && control[1]) {
        errno = (int)control[1];
        return -1;
    }
    if (overflows(fd, count, offset)) {
        errno = ENOSPC;
        return -1;
    }
    pthread_mutex_lock(&lock);
    keep(fd, path, WRITE, offset, bytes, count);
    ssize_t done = real_pwrite(fd, bytes, count, offset);
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }

ssize_t write(int fd, const void *bytes, size_t count) {
    char path[256];
    if (!concerned(fd, path)) return real_write(fd, bytes, count);
    return pwrite(fd, bytes, count, lseek(fd, 0, SEEK_CUR));
}

int ftruncate(int fd, off_t length) {
    char path[256];
    if (!concerned(fd, path)) return real_ftruncate(fd, length);
    if (control && control[1]) {
        errno = (int)control[1];
        return -1;
    }
    pthread_mutex_lock(&lock);
    keep(fd, path, TRUNCATE, length, NULL, 0);
    int done = real_ftruncate(fd, length);
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

static int sync_by(int (*real)(int), int fd) {
    char path[256];
    if (!concerned(fd, path)) return real(fd);
    if (control && control[0]) {
        struct timespec delay = {control[0] / 1000, (long)(control[0] % 1000) * 1000000};
        nanosleep(&delay, NULL);
    }
    if (control && control[2]) {
        errno = (int)control[2];
        return -1;
    }
    pthread_mutex_lock(&lock);
    int done = real(fd);
    if (done == 0) forget(path);
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int fd) { return sync_by(real_fsync, fd); }

int fdatasync(int fd) { return sync_by(real_fdatasync, fd); }

/* Whoever asks about the disk of the database is told of the small one. */
static int is_asked(const char *path) {
    size_t length = path ? strlen(path) : 0;
    if (!control || !control[3] || !file || !length) return 0;
    return strncmp(path, file, file_length) == 0 || (length < file_length && strncmp(path, file, length) == 0);
}

static int is_asked_by(int fd) {
    char path[256], link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_asked(path);
}

#define SHRINK(found)                                                    \
    do {                                                                 \
        (found)->f_blocks = ((uint64_t)control[3] << 10) / (found)->f_frsize; \
        (found)->f_bfree = (found)->f_bavail = room() / (found)->f_frsize;    \
    } while (0)

/* Calls with a path or a descriptor, each also under its name for large files. */
#define ASKS(name, type, argument, asked)                                \
    int name(argument, struct type *found) {                             \
        int (*real)(argument, struct type *) = dlsym(RTLD_NEXT, #name);  \
        int done = real(which, found);                                   \
        if (done == 0 && asked(which)) SHRINK(found);                    \
        return done;                                                     \
    }

ASKS(statvfs, statvfs, const char *which, is_asked)
ASKS(statvfs64, statvfs64, const char *which, is_asked)
ASKS(fstatvfs, statvfs, int which, is_asked_by)
ASKS(fstatvfs64, statvfs64, int which, is_asked_by)
ASKS(statfs, statfs, const char *which, is_asked)
ASKS(statfs64, statfs64, const char *which, is_asked)
ASKS(fstatfs, statfs, int which, is_asked_by)
ASKS(fstatfs64, statfs64, int which, is_asked_by)
