/* Faults of a disk and of a process's death, between paydesk and libc.
 *
 * Preloaded into the server (LD_PRELOAD), it counts the calls that write: to the database's files, to make them durable,
 * and to sockets. The harness says through a shared page which call is struck, and how: see `struct control`, which
 * ShimControl.swift mirrors. Files are the database's when their path begins with FAULTS_FILES.
 *
 * A power cut is played by an undo log: what a sector held before each write since the last fsync of its file. At the cut
 * each sector goes back through its writes as far as chance has it, so that writes are lost, reordered and torn in
 * sectors of 512 bytes, and the process is killed. fsync itself only forgets the undo log; nothing waits for a disk.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MODE_OFF, MODE_COUNT, MODE_KILL, MODE_FAIL, MODE_CUT };
enum { CLASS_WRITE = 1, CLASS_SYNC = 2, CLASS_SEND = 4 };
enum { PLACE_BEFORE, PLACE_HALF, PLACE_AFTER };
enum { SECTOR = 512, FILES = 64 };

struct control {
    _Atomic int64_t mode, classes, call, place, error, seed;
    _Atomic int64_t tracks; /* keep the undo log, from the start of the process */
    _Atomic int64_t lies;   /* fsync reports success and makes nothing durable */
    _Atomic int64_t delay;  /* microseconds that fsync takes */
    _Atomic int64_t seen, struck, undone;
    char name[256];
};

struct file {
    dev_t device;
    ino_t inode;
    int descriptor; /* of our own, never closed: closing one would drop the locks that SQLite holds on the file */
    off_t durable;  /* the size at the last fsync */
    char name[64];
};

struct undo {
    struct undo *older;
    int file;
    off_t offset;
    size_t length;
    unsigned char old[];
};

static struct control *control;
static const char *prefix;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES];
static int file_count;
static struct undo *newest;

__attribute__((constructor)) static void start(void) {
    const char *page = getenv("FAULTS_CONTROL");
    prefix = getenv("FAULTS_FILES");
    if (!page || !prefix) return;
    int descriptor = open(page, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void *mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    syscall(SYS_close, descriptor);
    if (mapped != MAP_FAILED) control = mapped;
}

/* The database file behind a descriptor, or -1. Called with the lock held. */
static int file_of(int descriptor, const struct stat *status) {
    for (int index = 0; index < file_count; index++)
        if (files[index].inode == status->st_ino && files[index].device == status->st_dev) return index;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return -1;
    path[length] = 0;
    /* The index of the log (-shm) is memory: it is made anew after a crash. */
    if (strncmp(path, prefix, strlen(prefix)) != 0 || strstr(path, "-shm") || strstr(path, "(deleted)")) return -1;
    if (file_count == FILES) return -1;
    int own = open(link, O_RDWR | O_CLOEXEC);
    if (own < 0) return -1;
    struct file *file = &files[file_count];
    *file = (struct file){status->st_dev, status->st_ino, own, status->st_size, ""};
    snprintf(file->name, sizeof file->name, "%s", strrchr(path, '/') + 1);
    return file_count++;
}

static uint64_t random_next(uint64_t *state) {
    uint64_t mixed = *state += 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBu;
    return mixed ^ (mixed >> 31);
}

/* Keeps what is there before `length` bytes are written; bytes past the end count as zero. */
static void remember(int file, off_t offset, size_t length) {
    struct undo *undo = calloc(1, sizeof *undo + length);
    if (!undo) return;
    undo->older = newest;
    undo->file = file;
    undo->offset = offset;
    undo->length = length;
    syscall(SYS_pread64, files[file].descriptor, undo->old, length, offset);
    newest = undo;
}

static void forget(int file) {
    for (struct undo **place = &newest; *place;) {
        struct undo *undo = *place;
        if (undo->file != file) {
            place = &undo->older;
            continue;
        }
        *place = undo->older;
        free(undo);
    }
    struct stat status;
    if (fstat(files[file].descriptor, &status) == 0) files[file].durable = status.st_size;
}

/* Takes back what was not durable: of each sector as many of its last writes as chance says. */
static void lose(int only) {
    enum { SLOTS = 1 << 20 };
    unsigned char *kept = calloc(SLOTS, 1);
    uint64_t state = (uint64_t)atomic_load(&control->seed);
    /* From nearly everything lost to nearly everything kept, so that both ends are seen. */
    uint64_t share = random_next(&state) % 5 * 25, salt = random_next(&state);
    for (struct undo *undo = newest; undo && kept; undo = undo->older) {
        if (only >= 0 && undo->file != only) continue;
        for (size_t done = 0; done < undo->length;) {
            off_t offset = undo->offset + (off_t)done;
            size_t part = SECTOR - (size_t)(offset % SECTOR);
            if (part > undo->length - done) part = undo->length - done;
            uint64_t slot = salt ^ ((uint64_t)undo->file << 40) ^ (uint64_t)(offset / SECTOR);
            unsigned char *mark = &kept[random_next(&slot) % SLOTS];
            if (!*mark && random_next(&state) % 100 < share) *mark = 1;
            if (!*mark) {
                syscall(SYS_pwrite64, files[undo->file].descriptor, undo->old + done, part, offset);
                atomic_fetch_add(&control->undone, 1);
            }
            done += part;
        }
    }
    free(kept);
    for (int index = 0; index < file_count; index++) {
        struct stat status;
        if ((only >= 0 && index != only) || fstat(files[index].descriptor, &status) != 0) continue;
        off_t more = (status.st_size - files[index].durable) / SECTOR;
        if (more > 0 && random_next(&state) % 100 >= share)
            syscall(SYS_ftruncate, files[index].descriptor,
                    files[index].durable + (off_t)(random_next(&state) % (uint64_t)(more + 1)) * SECTOR);
    }
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;) pause();
}

/* Whether this call is the one to be struck. */
static int is_struck(int class, const char *call, const char *name) {
    int64_t mode = atomic_load(&control->mode);
    if (mode == MODE_OFF || !(atomic_load(&control->classes) & class)) return 0;
    if (atomic_fetch_add(&control->seen, 1) + 1 != atomic_load(&control->call) || mode == MODE_COUNT) return 0;
    snprintf(control->name, sizeof control->name, "%s %s", call, name);
    atomic_store(&control->struck, 1);
    return 1;
}

enum verdict { GO_ON, HALF, FAILED, THEN_DIE };

/* What becomes of a call; does not return where the process ends before it. */
static enum verdict strike(int class, const char *call, int file) {
    if (!is_struck(class, call, file >= 0 ? files[file].name : "socket")) return GO_ON;
    switch (atomic_load(&control->mode)) {
    case MODE_FAIL:
        /* After a failed fsync the kernel has given the pages up: they hold what the disk held, or not. */
        if (class == CLASS_SYNC && atomic_load(&control->tracks)) {
            lose(file);
            forget(file);
        }
        errno = (int)atomic_load(&control->error);
        return FAILED;
    case MODE_CUT:
        lose(-1);
        die();
        return FAILED;
    default:
        if (atomic_load(&control->place) == PLACE_BEFORE) die();
        return atomic_load(&control->place) == PLACE_HALF ? HALF : THEN_DIE;
    }
}

static ssize_t write_file(int descriptor, const struct stat *status, const void *bytes, size_t length, off_t offset) {
    pthread_mutex_lock(&lock);
    int file = file_of(descriptor, status);
    enum verdict verdict = file < 0 ? GO_ON : strike(CLASS_WRITE, "write", file);
    if (file >= 0 && verdict != FAILED && atomic_load(&control->tracks)) remember(file, offset, length);
    if (verdict == HALF) length /= 2;
    ssize_t done = verdict == FAILED ? -1 : syscall(SYS_pwrite64, descriptor, bytes, length, offset);
    if (verdict == HALF || verdict == THEN_DIE) die();
    pthread_mutex_unlock(&lock);
    return done;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t length, off_t offset) {
    struct stat status;
    if (control && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
        return write_file(descriptor, &status, bytes, length, offset);
    return syscall(SYS_pwrite64, descriptor, bytes, length, offset);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t length, off_t offset) {
    return pwrite64(descriptor, bytes, length, offset);
}

int ftruncate64(int descriptor, off_t length) {
    struct stat status;
    if (!control || fstat(descriptor, &status) != 0) return (int)syscall(SYS_ftruncate, descriptor, length);
    pthread_mutex_lock(&lock);
    int file = file_of(descriptor, &status);
    enum verdict verdict = file < 0 ? GO_ON : strike(CLASS_WRITE, "truncate", file);
    if (file >= 0 && verdict != FAILED && atomic_load(&control->tracks) && length < status.st_size)
        remember(file, length, (size_t)(status.st_size - length));
    int done = verdict == FAILED ? -1 : (int)syscall(SYS_ftruncate, descriptor, length);
    if (verdict == HALF || verdict == THEN_DIE) die();
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int descriptor, off_t length) { return ftruncate64(descriptor, length); }

static int sync_file(int descriptor, long number) {
    struct stat status;
    if (!control || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return (int)syscall(number, descriptor);
    int64_t delay = atomic_load(&control->delay);
    if (delay > 0) usleep((useconds_t)delay);
    pthread_mutex_lock(&lock);
    int file = file_of(descriptor, &status);
    enum verdict verdict = file < 0 ? GO_ON : strike(CLASS_SYNC, "fsync", file);
    int done = verdict == FAILED ? -1 : 0;
    if (file < 0 || !atomic_load(&control->tracks)) {
        if (verdict != FAILED) done = (int)syscall(number, descriptor);
    } else if (verdict != FAILED && !atomic_load(&control->lies)) {
        forget(file);
    }
    if (verdict == HALF || verdict == THEN_DIE) die();
    pthread_mutex_unlock(&lock);
    return done;
}

int fsync(int descriptor) { return sync_file(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return sync_file(descriptor, SYS_fdatasync); }

/* What goes out of the process: to a client, to the database server, to a provider. */
static int is_socket(int descriptor) {
    struct stat status;
    return control && atomic_load(&control->mode) != MODE_OFF && fstat(descriptor, &status) == 0
        && S_ISSOCK(status.st_mode);
}

static ssize_t send_part(int descriptor, const void *bytes, size_t length, int flags) {
    return syscall(SYS_sendto, descriptor, bytes, length, flags, NULL, 0);
}

ssize_t send(int descriptor, const void *bytes, size_t length, int flags) {
    enum verdict verdict = is_socket(descriptor) ? strike(CLASS_SEND, "send", -1) : GO_ON;
    if (verdict == FAILED) return -1;
    ssize_t done = send_part(descriptor, bytes, verdict == HALF ? length / 2 : length, flags);
    if (verdict != GO_ON) die();
    return done;
}

ssize_t write(int descriptor, const void *bytes, size_t length) {
    if (is_socket(descriptor)) return send(descriptor, bytes, length, 0);
    return syscall(SYS_write, descriptor, bytes, length);
}

ssize_t writev(int descriptor, const struct iovec *parts, int count) {
    enum verdict verdict = is_socket(descriptor) ? strike(CLASS_SEND, "send", -1) : GO_ON;
    if (verdict == FAILED) return -1;
    if (verdict == HALF && count > 0) send_part(descriptor, parts[0].iov_base, parts[0].iov_len / 2, 0);
    ssize_t done = verdict == HALF ? 0 : syscall(SYS_writev, descriptor, parts, count);
    if (verdict != GO_ON) die();
    return done;
}
