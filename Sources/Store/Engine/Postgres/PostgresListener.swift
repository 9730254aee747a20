import CLibpq
import Foundation
import Synchronization

/// Hears what processes send each other through PostgreSQL (LISTEN), on a thread and a connection of its own.
final class PostgresListener: Sendable {
    /// The interval at which the thread looks whether it is to stop.
    private static let look = Duration.milliseconds(200)

    private let address: PostgresAddress
    private let settings: PostgresSettings
    private let channel: String
    private let take: @Sendable (DatabaseMessage) -> Void
    private let isStopped = Atomic<Bool>(false)

    init(
        _ address: PostgresAddress, settings: PostgresSettings, channel: String,
        take: @escaping @Sendable (DatabaseMessage) -> Void
    ) {
        self.address = address
        self.settings = settings
        self.channel = channel
        self.take = take
    }

    /// - Parameter onEnd: is called once the thread has ended.
    func start(_ onEnd: @escaping @Sendable () -> Void) {
        let thread = Thread { [self] in
            while !isEnding {
                listen()
                if !isEnding { Thread.sleep(forTimeInterval: Double(settings.longestPause.milliseconds) / 1_000) }
            }
            onEnd()
        }
        thread.name = "paydesk-pg-listen"
        thread.start()
    }

    func stop() { isStopped.store(true, ordering: .relaxed) }

    private var isEnding: Bool { isStopped.load(ordering: .relaxed) }

    /// Listens until the connection is lost or the listener is stopped.
    private func listen() {
        guard
            let connection = try? PostgresConnection(
                address, settings: settings, by: .now + max(settings.patience, .seconds(2))),
            (try? connection.run("LISTEN \(channel)")) != nil
        else { return }
        take(.connected)
        while !isEnding, connection.isOpen {
            guard PostgresConnection.poll(connection.pointer, Int32(POLLIN), by: .now + Self.look) else { continue }
            guard PQconsumeInput(connection.pointer) == 1 else { break }
            while let message = PQnotifies(connection.pointer) {
                take(.text(String(cString: message.pointee.extra)))
                PQfreemem(message)
            }
        }
        if !isEnding { take(.disconnected) }
    }
}
