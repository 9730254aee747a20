import NIOCore
import Synchronization

extension EventLoop {
    /// Lets this loop's thread sleep for some microseconds at most until the future has a result.
    ///
    /// An answer to a client that sleeps on another core is an interrupt of that core. On a virtual machine the
    /// interrupt costs the server more than the answer, so that a measurement with many refusals would measure the
    /// machine.
    func stayAwake(until end: EventLoopFuture<some Any>) {
        let wake = Wake()
        end.whenComplete { _ in wake.isOver.store(true, ordering: .relaxed) }
        wake.turn(on: self)
    }
}

private final class Wake: Sendable {
    let isOver = Atomic(false)

    func turn(on loop: any EventLoop) {
        guard !isOver.load(ordering: .relaxed) else { return }
        // With a pause: a loop looks at its sockets only when it has nothing else to do.
        loop.scheduleTask(in: .microseconds(20)) { self.turn(on: loop) }
    }
}
