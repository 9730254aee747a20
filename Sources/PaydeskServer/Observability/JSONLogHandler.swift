import Domain
import Logging

/// Writes each log line as a JSON object of one line: `time`, `level`, `message`, `request_id`, `trace_id` (null where
/// there is none), then the line's other fields by name.
struct JSONLogHandler: LogHandler {
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let time: TimeSource
    private let write: @Sendable ([UInt8]) -> Void

    /// - Parameter write: gets a whole line with its end.
    init(
        metadataProvider: Logger.MetadataProvider?, time: TimeSource, write: @escaping @Sendable ([UInt8]) -> Void
    ) {
        self.metadataProvider = metadataProvider
        self.time = time
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata
        if let metadataProvider { fields.merge(metadataProvider.get()) { _, new in new } }
        if let own = event.metadata { fields.merge(own) { _, new in new } }
        var line = "{\"time\":\"\(Self.iso8601(time.milliseconds()))\",\"level\":\"\(event.level)\",\"message\":"
        line.appendJSON("\(event.message)")
        for name in Self.always {
            line += ",\"\(name)\":"
            if let value = fields.removeValue(forKey: name) { line.appendJSON(value) } else { line += "null" }
        }
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) where !Self.taken.contains(name) {
            line += ","
            line.appendJSON(name)
            line += ":"
            line.appendJSON(value)
        }
        line += "}\n"
        write(Array(line.utf8))
    }

    /// The fields of every line.
    private static let always = ["request_id", "trace_id"]
    /// The names that no field of a line may take.
    private static let taken: Set<String> = ["time", "level", "message"]

    /// The time with milliseconds, `2026-01-31T08:00:00.123Z`.
    private static func iso8601(_ milliseconds: Int64) -> String {
        let seconds = Timestamp(milliseconds.flooredSeconds)
        let rest = String(milliseconds - seconds.rawValue * 1_000)
        return "\(seconds.iso8601.dropLast()).\(String(repeating: "0", count: 3 - rest.count))\(rest)Z"
    }
}

extension String {
    /// Appends a text in JSON; control characters, which a terminal might obey, are escaped.
    fileprivate mutating func appendJSON(_ text: String) {
        self += "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x22: self += "\\\""
            case 0x5C: self += "\\\\"
            case 0x0A: self += "\\n"
            case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069:
                let digits = String(scalar.value, radix: 16)
                self += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: unicodeScalars.append(scalar)
            }
        }
        self += "\""
    }

    /// Appends a field's value: numbers and truth values as they are, everything else as text or in its own form.
    fileprivate mutating func appendJSON(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): appendJSON(text)
        case .stringConvertible(let value as any BinaryInteger): self += "\(value)"
        case .stringConvertible(let value as Double) where value.isFinite: self += "\(value)"
        case .stringConvertible(let value as Bool): self += "\(value)"
        case .stringConvertible(let value): appendJSON("\(value)")
        case .array(let values):
            self += "["
            for (index, value) in values.enumerated() {
                if index > 0 { self += "," }
                appendJSON(value)
            }
            self += "]"
        case .dictionary(let members):
            self += "{"
            for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { self += "," }
                appendJSON(member.key)
                self += ":"
                appendJSON(member.value)
            }
            self += "}"
        @unknown default: appendJSON("\(value)")
        }
    }
}
