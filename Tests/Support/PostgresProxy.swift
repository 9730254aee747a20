import Dispatch
import Foundation
import Synchronization

/// A TCP proxy in front of the cluster that can cut connections at a chosen message.
package final class PostgresProxy: Sendable {
    /// The point at which a connection is cut.
    package enum Cut: Sendable {
        case never
        /// The message that contains the text does not reach the server; every message contains an empty text.
        case before(String)
        /// The server gets the message that contains the text, but its reply does not reach the client.
        case after(String)
        /// Drops everything in both directions without closing the connection.
        case silent
    }

    private struct State {
        var cut = Cut.never
        /// The number of connections that are still to be cut.
        var cuts = 0
        var open: Set<Int32> = []
        var questions = 0
        var listener: LoopbackListener?
    }

    package let port: UInt16
    private let target: UInt16
    private let state: Mutex<State>
    private let closed = DispatchSemaphore(value: 0)

    package init(to target: UInt16) throws {
        let listener = try LoopbackListener()
        self.target = target
        port = listener.port
        state = Mutex(State(listener: listener))
        serve(listener)
    }

    /// Cuts the next `times` connections that reach the point; silence lasts until the next call.
    package func cut(_ cut: Cut, times: Int = 1) {
        state.withLock { state in
            state.cut = cut
            state.cuts = times
        }
    }

    /// The number of connections that are to be cut and have not yet reached that point.
    package var remainingCuts: Int { state.withLock { $0.cuts } }

    /// The number of times that a client waited for an answer, on all connections.
    package var questions: Int { state.withLock { $0.questions } }

    /// Closes the port and every connection, as when a server goes away.
    package func stop() {
        let listener = state.withLock { state in
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            defer { state.listener = nil }
            return state.listener
        }
        guard let listener else { return }
        shutdown(listener.descriptor, Int32(SHUT_RDWR))
        closed.wait()
    }

    /// Listens on the same port again.
    package func restart() throws {
        let listener = try LoopbackListener(port: port)
        state.withLock { $0.listener = listener }
        serve(listener)
    }

    private func serve(_ listener: LoopbackListener) {
        Thread { [self] in
            while let client = listener.accept() {
                Thread { [self] in pass(client) }.start()
            }
            listener.close()
            closed.signal()
        }.start()
    }

    /// Passes the bytes of one connection in both directions, until one side ends or the cut is reached.
    private func pass(_ client: Int32) {
        guard let server = Loopback.connect(target) else {
            close(client)
            return
        }
        state.withLock { state in
            state.open.formUnion([client, server])
            // A connection that was accepted while the proxy stopped ends at once.
            if state.listener == nil { shutdown(client, Int32(SHUT_RDWR)) }
        }
        exchange(client, server)
        state.withLock { state in
            state.open.subtract([client, server])
            close(client)
            close(server)
        }
    }

    private func exchange(_ client: Int32, _ server: Int32) {
        var sockets = [client, server].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        var frontend = PostgresFrontend()
        while true {
            guard poll(&sockets, 2, -1) > 0 || errno == EINTR else { return }
            if sockets[1].revents != 0 {
                guard let bytes = Loopback.receive(server), Loopback.send(client, bytes) else { return }
            }
            if sockets[0].revents != 0 {
                guard let bytes = Loopback.receive(client) else { return }
                let questions = frontend.questions(bytes)
                state.withLock { $0.questions += questions }
                switch takeCut(bytes) {
                case .never:
                    guard Loopback.send(server, bytes) else { return }
                case .silent:
                    continue
                case .before:
                    return
                case .after:
                    // The client's side ends when the server has finished, so that the client's next request comes
                    // after that.
                    _ = Loopback.send(server, bytes)
                    _ = Loopback.receive(server)
                    return
                }
            }
        }
    }

    private func takeCut(_ bytes: [UInt8]) -> Cut {
        state.withLock { state in
            guard state.cuts > 0 else { return .never }
            switch state.cut {
            case .never, .silent:
                return state.cut
            case .before(let text), .after(let text):
                guard text.isEmpty || bytes.firstRange(of: Array(text.utf8)) != nil else { return .never }
                state.cuts -= 1
                return state.cut
            }
        }
    }
}
