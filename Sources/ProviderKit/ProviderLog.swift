/// Where a provider writes what an operator needs and no report says: its service's request ids, a refused key.
///
/// Never a secret, a token of a client's or a whole notification.
public struct ProviderLog: Sendable {
    public enum Level: String, Sendable { case debug, notice, warning, error }

    private let sink: @Sendable (Level, String, [String: String]) -> Void

    public init(_ sink: @escaping @Sendable (Level, String, [String: String]) -> Void) { self.sink = sink }

    /// Writes nothing.
    public static let silent = ProviderLog { _, _, _ in }

    public func write(_ level: Level, _ message: String, _ metadata: [String: String] = [:]) {
        sink(level, message, metadata)
    }
}
