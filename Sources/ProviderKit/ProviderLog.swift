/// The log for what an operator needs and no report carries: its service's request ids, a refused key.
///
/// Never a secret, a token of a client's or a whole notification.
public struct ProviderLog: Sendable {
    public enum Level: String, Sendable { case debug, notice, warning, error }

    private let sink: @Sendable (Level, String, [String: String]) -> Void
    private let unread: @Sendable (String) -> Void

    /// - Parameter unread: takes the name of a field each time that it could not be read.
    public init(
        unread: @escaping @Sendable (String) -> Void = { _ in },
        _ sink: @escaping @Sendable (Level, String, [String: String]) -> Void
    ) {
        self.sink = sink
        self.unread = unread
    }

    /// Writes nothing.
    public static let silent = ProviderLog { _, _, _ in }

    public func write(_ level: Level, _ message: String, _ metadata: [String: String] = [:]) {
        sink(level, message, metadata)
    }

    /// Says that a peer's fields had another form or another word than the provider knows and counted as absent.
    ///
    /// - Parameter fields: names from the provider's own code, never a peer's text, so that their number is bounded.
    public func unread(_ fields: some Sequence<String>) {
        for field in fields { unread(field) }
    }
}
