package import Domain
package import Logging
import Metrics
import Synchronization

/// Writes the first log lines of a kind in each minute and counts the further ones, so that strangers cannot fill the
/// log.
///
/// The next line of that kind states how many were left out. A kind is a message with a configured name, so there are
/// few.
package final class RepeatedLines: Sendable {
    private struct Kind: Hashable {
        let message: String
        let name: String
    }

    private struct Count {
        /// The current minute since 1970.
        var minute: Int64
        var written = 0
        var leftOut = 0
    }

    /// The largest number of lines of a kind in a minute.
    private static let limit = 20
    /// The largest number of kinds.
    private static let capacity = 1_000

    private let time: TimeSource
    private let counts = Mutex<[Kind: Count]>([:])
    private let leftOutLines = Counter(label: "paydesk_log_lines_left_out_total")

    package init(time: TimeSource) { self.time = time }

    /// Writes a line unless there were too many of its kind.
    ///
    /// - Parameters:
    ///   - name: the subject of the line besides its message, such as an account.
    ///   - write: gets the metadata, with `left_out` where earlier lines were left out.
    package func write(
        _ message: String, of name: String = "", _ metadata: Logger.Metadata, _ write: (Logger.Metadata) -> Void
    ) {
        let minute = time.now.rawValue / 60
        let leftOut = counts.withLock { counts -> Int? in
            let kind = Kind(message: message, name: name)
            if counts.count >= Self.capacity, counts[kind] == nil { counts = [:] }
            var count = counts[kind] ?? Count(minute: minute)
            defer { counts[kind] = count }
            if count.minute != minute {
                count.minute = minute
                count.written = 0
            }
            guard count.written < Self.limit else {
                count.leftOut += 1
                return nil
            }
            defer { count.leftOut = 0 }
            count.written += 1
            return count.leftOut
        }
        guard let leftOut else { return leftOutLines.increment() }
        var metadata = metadata
        if leftOut > 0 { metadata["left_out"] = "\(leftOut)" }
        write(metadata)
    }
}
