import Foundation

/// Lets a thread that is woken wait until the one that works makes room for it (`SCHED_BATCH`, sched(7)).
///
/// Where there are fewer cores than threads with work, each request would interrupt the writer for itself; so several share
/// a wake-up, which at twice the capacity is a tenth of what the server does. A free core takes a thread at once, as ever.
enum SharedWakeUps {
    /// The numbers of `SCHED_OTHER` and `SCHED_BATCH` in <sched.h>, which names the second to GNU sources only.
    private static let (other, batch): (Int32, Int32) = (0, 3)

    /// Changes the threads that the runtime has made; those to come have it from them.
    ///
    /// What an operator chose instead of the system's default stays. Where the system refuses, nothing changes.
    static func begin() {
        #if os(Linux)
            var parameters = sched_param()
            let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            for thread in threads.compactMap(pid_t.init) where sched_getscheduler(thread) == other {
                _ = sched_setscheduler(thread, batch, &parameters)
            }
        #endif
    }
}
