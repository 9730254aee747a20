import Domain
import FoundationEssentials
import Store

/// A delivery that is ready to be sent.
struct PreparedDelivery: Sendable {
    let id: ID<Delivery>
    let event: ID<Event>
    let seq: Int64
    /// What of one line goes out one after another.
    let line: String
    let attempts: Int64
    let body: Data
}

/// The state of a run: whose turn it is, what is under way, what is still to be written.
///
/// One delivery of a line is under way at a time, in the order in which they came; lines do not wait for each other.
struct DeliveryLines {
    private let width: Int
    private var lines: [String: ArraySlice<PreparedDelivery>] = [:]
    /// The lines whose first delivery may start.
    private var ready: ArraySlice<String> = []
    private var waiting = 0
    private var underWay = 0
    private var results: [DeliveryResult] = []
    private var isWriting = false
    private var isFetching = false
    private var last: Int64 = 0
    /// Nothing more is to be found.
    private var isLastPage = false
    /// The endpoint is switched off.
    private(set) var isStopped = false

    init(width: Int) { self.width = width }

    /// Whether the run has left nothing for another one: a run that must end early may still hold what it found.
    var isExhausted: Bool { isStopped || (isLastPage && waiting == 0) }

    /// Takes what may start now; nothing where the run must come to its end.
    mutating func startable(_ mayGoOn: Bool) -> [PreparedDelivery] {
        var started: [PreparedDelivery] = []
        while mayGoOn, underWay < width, let line = ready.popFirst(), let delivery = lines[line]?.popFirst() {
            started.append(delivery)
            underWay += 1
            waiting -= 1
        }
        return started
    }

    /// The results to write next; nil while others are being written.
    ///
    /// Meanwhile more gather.
    mutating func writable() -> [DeliveryResult]? {
        guard !isWriting, !results.isEmpty else { return nil }
        isWriting = true
        defer { results = [] }
        return results
    }

    /// Where the next page begins; nil where none is needed.
    ///
    /// - Parameter isBarred: a page must not come before the results of the one before are written.
    mutating func wantsPage(isBarred: Bool) -> Int64? {
        guard !isFetching, !isLastPage, waiting < width * 4 else { return nil }
        guard !isBarred || (waiting == 0 && underWay == 0 && results.isEmpty && !isWriting) else { return nil }
        isFetching = true
        return last
    }

    mutating func add(_ page: [PreparedDelivery], isLast: Bool) {
        isFetching = false
        isLastPage = isLast
        last = page.last?.seq ?? last
        waiting += page.count
        for delivery in page {
            if lines[delivery.line] == nil {
                lines[delivery.line] = [delivery]
                ready.append(delivery.line)
            } else {
                lines[delivery.line]?.append(delivery)
            }
        }
    }

    mutating func end(_ delivery: PreparedDelivery, _ result: DeliveryResult) {
        underWay -= 1
        results.append(result)
        if lines[delivery.line]?.isEmpty ?? true {
            lines[delivery.line] = nil
        } else {
            ready.append(delivery.line)
        }
    }

    mutating func written(stops: Bool) {
        isWriting = false
        isStopped = isStopped || stops
    }
}
