import NIOCore

/// Runs tasks on the thread of an event loop.
///
/// A connection's requests run where its socket is read and written, so that no part of a request or of its answer is
/// handed to another thread and back. Beside few others that is a third of what a short request costs, under a full load
/// nothing. What runs here must not block for long: the loop's other connections wait.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
