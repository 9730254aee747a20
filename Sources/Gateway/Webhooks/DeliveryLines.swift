import Domain
import FoundationEssentials
import Store

/// A delivery that is ready to be sent.
struct PreparedDelivery: Sendable {
    let id: ID<Delivery>
    let event: ID<Event>
    let type: String
    let place: AttemptPosition
    /// What of one line goes out one after another.
    let line: String
    let attempts: Int64
    let body: Data
}

/// What of an endpoint's deliveries may go out at a moment.
enum DeliveryPermit: Sendable {
    case types(Set<EventType>)
    /// It has another address or secret by now, which another run will use.
    case changed
    /// It is switched off or gone.
    case ended
}

/// The state of a run: whose turn it is, what is under way, what is still to be written.
///
/// One delivery of a line is under way at a time, in the order in which they came; lines do not wait for each other.
struct DeliveryLines {
    /// So many deliveries are kept at most, those included whose line is not free.
    private static let capacity = 1_000

    private let width: Int
    private var lines: [String: ArraySlice<PreparedDelivery>] = [:]
    /// The lines whose first delivery may start.
    private var ready: ArraySlice<String> = []
    /// The lines of what is under way.
    private var busy: Set<String> = []
    private var waiting = 0
    /// Those of the waiting that cannot start because their line is busy.
    private var blocked = 0
    private var results: [DeliveryResult] = []
    private var isAsking = false
    private var isWriting = false
    private var isFetching = false
    private var hasSucceeded = false
    /// Where the next page begins.
    private(set) var last = AttemptPosition.start
    /// Nothing more is to be found.
    private var isLastPage = false
    /// The endpoint is switched off.
    private var isStopped = false
    /// Nothing more may start in this run.
    private(set) var isHeld = false

    init(width: Int) { self.width = width }

    /// Whether the run has left nothing for another one: a run that must end early may still hold what it found.
    var isExhausted: Bool { isStopped || (isLastPage && waiting == 0) }

    /// Whether something could start if it may.
    mutating func wantsPermit() -> Bool {
        guard !isAsking, busy.count < width, !ready.isEmpty else { return false }
        isAsking = true
        return true
    }

    /// Takes what may start now; what must not go out any more ends here.
    mutating func startable(by permit: DeliveryPermit) -> [PreparedDelivery] {
        isAsking = false
        switch permit {
        case .ended: isStopped = true
        case .changed: break
        case .types(let types):
            var started: [PreparedDelivery] = []
            while !isHeld, busy.count < width, let delivery = next() {
                if let type = EventType(rawValue: delivery.type), types.contains(type) {
                    started.append(delivery)
                } else {
                    end(delivery, DeliveryResult(withheld: delivery))
                }
            }
            return started
        }
        isHeld = true
        return []
    }

    private mutating func next() -> PreparedDelivery? {
        guard let line = ready.popFirst(), let delivery = lines[line]?.popFirst() else { return nil }
        busy.insert(line)
        waiting -= 1
        blocked += lines[line]?.count ?? 0
        return delivery
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

    /// Whether it is time for another page: soon nothing could start any more, though nothing is lacking but deliveries.
    mutating func wantsPage() -> Bool {
        guard !isFetching, !isLastPage, waiting - blocked < width * 4, waiting < Self.capacity else { return false }
        isFetching = true
        return true
    }

    mutating func add(_ page: [PreparedDelivery], isLast: Bool) {
        isFetching = false
        isLastPage = isLast
        last = page.last?.place ?? last
        waiting += page.count
        for delivery in page {
            if lines[delivery.line] == nil {
                lines[delivery.line] = [delivery]
                ready.append(delivery.line)
            } else {
                lines[delivery.line]?.append(delivery)
                if busy.contains(delivery.line) { blocked += 1 }
            }
        }
    }

    /// An endpoint that is gone gets nothing more, and one that lets the first ones hang gives its place to another.
    mutating func end(_ delivery: PreparedDelivery, _ result: DeliveryResult) {
        results.append(result)
        hasSucceeded = hasSucceeded || result.fault == nil
        isHeld = isHeld || result.status == 410 || (result.fault == .timeout && !hasSucceeded)
        busy.remove(delivery.line)
        blocked -= lines[delivery.line]?.count ?? 0
        if lines[delivery.line]?.isEmpty ?? true {
            lines[delivery.line] = nil
        } else {
            ready.append(delivery.line)
        }
    }

    mutating func written(stops: Bool) {
        isWriting = false
        isStopped = isStopped || stops
        isHeld = isHeld || stops
    }
}

extension DeliveryResult {
    /// No key of the partner may read this any more: it ends without an attempt.
    fileprivate init(withheld delivery: PreparedDelivery) {
        self.init(delivery: delivery.id, attempts: delivery.attempts, status: nil, fault: .forbidden, delay: nil)
    }
}
