import Synchronization

/// Every text that could end in a log or an answer, of one whole run.
final class Transcript: Sendable {
    private let texts = Mutex<Set<String>>([])

    /// Keeps a value as people, debuggers and dumps see it.
    func add(_ value: some Any) {
        var dumped = ""
        dump(value, to: &dumped)
        let shown = ["\(value)", String(reflecting: value), dumped]
        texts.withLock { $0.formUnion(shown) }
    }

    var all: Set<String> { texts.withLock { $0 } }
}
