// Tells the thread sanitizer of the locks that it cannot see. Preloaded into a test process that it watches.
//
// `Synchronization.Mutex` on Linux takes a free lock by an atomic exchange that is compiled into the caller, which the
// sanitizer sees, and waits for a held one in the standard library, which is built without it: the kernel passes the lock
// on, and to the sanitizer the two threads never met. These three take the place of the library's own functions, call
// them, and say what they did. See _MutexHandle in Swift's stdlib/public/Synchronization/Mutex/LinuxImpl.swift.
//
// Nothing is hidden by that: an edge is added only where a lock was passed on.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

// Swift's calling convention; a method's self is the context.
#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *self

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// There only in a process with the sanitizer.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

// The library's own; to look a name up twice does no harm.
static void *own(void **known, const char *name) {
    void *found = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(known, found, __ATOMIC_RELAXED);
    }
    return found;
}

static void *own_lock, *own_try_lock, *own_unlock;

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF) {
    ((SWIFT void (*)(uint32_t, SELF))own(&own_lock, LOCK))(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT bool try_lock_slow(SELF) {
    bool isLocked = ((SWIFT bool (*)(SELF))own(&own_try_lock, TRY_LOCK))(self);
    if (isLocked && __tsan_acquire) __tsan_acquire(self);
    return isLocked;
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
    if (__tsan_release) __tsan_release(self);
    ((SWIFT void (*)(SELF))own(&own_unlock, UNLOCK))(self);
}
