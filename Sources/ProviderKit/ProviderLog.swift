/// The log for details that an operator needs and no report contains: the service's request ids, a refused key.
///
/// It must never get a secret, a client's token or a whole notification.
public struct ProviderLog: Sendable {
    public enum Level: String, Sendable { case debug, notice, warning, error }

    private let sink: @Sendable (Level, String, [String: String]) -> Void
    private let unread: @Sendable (String) -> Void

    /// - Parameter unread: is called with the name of each field that could not be read.
    public init(
        unread: @escaping @Sendable (String) -> Void = { _ in },
        _ sink: @escaping @Sendable (Level, String, [String: String]) -> Void
    ) {
        self.sink = sink
        self.unread = unread
    }

    /// A log that writes nothing.
    public static let silent = ProviderLog { _, _, _ in }

    public func write(_ level: Level, _ message: String, _ metadata: [String: String] = [:]) {
        sink(level, message, metadata)
    }

    /// Reports fields of a peer that had an unknown form or value and counted as absent.
    ///
    /// - Parameter fields: names from the provider's own code, never a peer's text, so that their number is bounded.
    public func unread(_ fields: some Sequence<String>) {
        for field in fields { unread(field) }
    }
}
