import NIOCore

/// Runs tasks on the thread of an event loop.
///
/// A connection's requests run where its socket is read and written, so that no part of a request or of its answer is
/// handed to another thread and back. That is what most of the time of a short request went into.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
