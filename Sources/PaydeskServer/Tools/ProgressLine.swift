import Foundation
import Gateway
import Synchronization

/// The line of a terminal that shows how far a command has come, and disappears at its end.
///
/// It stands on the standard error, so that the output of the command can be read by a program.
final class ProgressLine: Sendable {
    /// The time for which a line stands before the same part's next count replaces it.
    private static let interval = Duration.milliseconds(100)
    /// Returns to the begin of the line and clears it (ECMA-48, CR and EL).
    private static let clear = "\r\u{1B}[K"

    private struct Shown {
        let part: String
        let at: ContinuousClock.Instant
    }

    private let shown = Mutex<Shown?>(nil)
    private let now: @Sendable () -> ContinuousClock.Instant
    private let write: @Sendable (String) -> Void

    init(
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }, write: @escaping @Sendable (String) -> Void
    ) {
        self.now = now
        self.write = write
    }

    /// The line of the standard error; nil where that is no terminal.
    static func ofTerminal() -> ProgressLine? {
        guard isatty(STDERR_FILENO) == 1 else { return nil }
        return ProgressLine { FileHandle.standardError.write(Data($0.utf8)) }
    }

    var progress: ReadingProgress { ReadingProgress { part, count in self.show(part, count) } }

    private func show(_ part: String, _ count: Int) {
        let isShown = shown.withLock { shown in
            let now = now()
            if let last = shown, last.part == part, now - last.at < Self.interval { return false }
            shown = Shown(part: part, at: now)
            return true
        }
        if isShown { write("\(Self.clear)\(part): \(count)") }
    }

    /// Clears the line.
    func end() {
        let isShown = shown.withLock { shown in
            defer { shown = nil }
            return shown != nil
        }
        if isShown { write(Self.clear) }
    }
}
