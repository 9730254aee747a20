import Foundation

/// An event of the live stream (`live.md`).
enum ServerEvent: Sendable, Equatable {
    case entitlements(version: Int64)
    case order(id: String, status: String)
    /// The last event: `shutdown`, `expired`, `ended` or `erased`.
    case bye(reason: String)
}

/// Reads server-sent events from pieces that end anywhere.
struct ServerEventReader {
    private var bytes = Data()

    /// Returns the events that are whole now; unknown ones and comments are left out.
    mutating func read(_ piece: Data) -> [ServerEvent] {
        bytes += piece
        var events: [ServerEvent] = []
        while let end = bytes.range(of: Data("\n\n".utf8)) {
            let block = String(decoding: bytes[bytes.startIndex..<end.lowerBound], as: UTF8.self)
            bytes = Data(bytes[end.upperBound...])
            if let event = Self.event(block) { events.append(event) }
        }
        return events
    }

    private static func event(_ block: String) -> ServerEvent? {
        var fields: [String: String] = [:]
        for line in block.split(separator: "\n") {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { continue }
            let value = parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]
            fields[String(parts[0])] = (fields[String(parts[0])].map { $0 + "\n" } ?? "") + value
        }
        guard let data = fields["data"],
            let members = try? JSONDecoder().decode([String: AttributeValue].self, from: Data(data.utf8))
        else { return nil }
        switch fields["event"] {
        case "entitlements": return members["version"]?.integer.map { .entitlements(version: $0) }
        case "order":
            guard let id = members["id"]?.text, let status = members["status"]?.text else { return nil }
            return .order(id: id, status: status)
        case "bye": return members["reason"]?.text.map { .bye(reason: $0) }
        default: return nil
        }
    }
}
