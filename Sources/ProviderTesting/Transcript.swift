import Synchronization

/// Every text of one run that could end up in a log or an answer.
final class Transcript: Sendable {
    private let texts = Mutex<Set<String>>([])

    /// Records a value as descriptions, debuggers and dumps show it.
    func add(_ value: some Any) {
        var dumped = ""
        dump(value, to: &dumped)
        let shown = ["\(value)", String(reflecting: value), dumped]
        texts.withLock { $0.formUnion(shown) }
    }

    var all: Set<String> { texts.withLock { $0 } }
}
