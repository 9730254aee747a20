import Gateway
import Logging

/// Passes on the first lines of one cause in each minute and counts the further ones (``RepeatedLines``).
///
/// A cause is a message with the account, the route, the status and the reason that it names. Lines below `notice` are
/// asked for by whoever looks for something, so all of them are written.
struct CountedLogHandler<Base: LogHandler>: LogHandler {
    private var base: Base
    private let lines: RepeatedLines

    init(_ base: Base, lines: RepeatedLines) {
        self.base = base
        self.lines = lines
    }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }
    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }
    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) {
        guard event.level >= .notice else { return base.log(event: event) }
        let own = event.metadata ?? [:]
        let cause = Self.causes.compactMap { own[$0].map { "\($0)" } }.joined(separator: " ")
        lines.write("\(event.level) \(event.message)", of: cause, own) { metadata in
            var event = event
            event.metadata = metadata
            base.log(event: event)
        }
    }
}

extension CountedLogHandler {
    /// The metadata that tells one cause from another; the rest, such as ids, differs from line to line.
    private static var causes: [String] { ["account", "kind", "route", "status", "reason", "error", "key"] }
}
