import Domain
import FoundationEssentials
import Store

/// A delivery whose message is ready.
struct PreparedDelivery: Sendable {
    let id: ID<Delivery>
    let event: ID<Event>
    let type: String
    let place: AttemptPosition
    /// The name of its line; the deliveries of a line are sent one after another.
    let line: String
    let attempts: Int64
    let body: Data
    /// The trace of the request that made the event.
    var trace: TraceContext?
}

/// The result of checking an endpoint: the event types that it may get now.
enum DeliveryPermit: Sendable {
    case types(Set<EventType>)
    /// The endpoint has another address or secret since, which the next run will use.
    case changed
    /// The endpoint is disabled or deleted.
    case ended
}

/// The state of a run: the waiting deliveries, those under way, and the results that are not stored yet.
///
/// Each line has one delivery under way at a time, in the order of arrival; lines do not wait for each other.
struct DeliveryLines {
    /// The largest number of waiting deliveries, including those of busy lines.
    private static let capacity = 1_000

    private let width: Int
    private var lines: [String: ArraySlice<PreparedDelivery>] = [:]
    /// The lines whose first delivery may start.
    private var ready: ArraySlice<String> = []
    /// The lines with a delivery under way.
    private var busy: Set<String> = []
    private var waiting = 0
    /// The number of waiting deliveries whose line is busy.
    private var blocked = 0
    private var results: [DeliveryResult] = []
    private var isAsking = false
    private var isWriting = false
    private var isFetching = false
    private var hasSucceeded = false
    /// The position after which the next page begins.
    private(set) var last = AttemptPosition.start
    /// True once the last page was read.
    private var isLastPage = false
    /// True once the endpoint is disabled.
    private var isStopped = false
    /// True once no further delivery may start in this run.
    private(set) var isHeld = false

    init(width: Int) { self.width = width }

    /// True where the run leaves no delivery to a later one; a run that ended early may still have some.
    var isExhausted: Bool { isStopped || (isLastPage && waiting == 0) }

    /// True where a delivery could start but the endpoint must be checked first; records that the check is under way.
    mutating func wantsPermit() -> Bool {
        guard !isAsking, busy.count < width, !ready.isEmpty else { return false }
        isAsking = true
        return true
    }

    /// Takes the deliveries that may start now, and ends those that must no longer be sent.
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

    /// Takes the results to store next; nil while others are being stored.
    ///
    /// Meanwhile further results accumulate.
    mutating func writable() -> [DeliveryResult]? {
        guard !isWriting, !results.isEmpty else { return nil }
        isWriting = true
        defer { results = [] }
        return results
    }

    /// True where another page should be read, because few deliveries are left; records that it is being read.
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

    /// Ends a delivery; an endpoint that answers 410, or that times out before any success, gets no further ones in
    /// this run.
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
    /// Makes the result of a delivery whose type no key of the partner may read any more; it ends without an attempt.
    fileprivate init(withheld delivery: PreparedDelivery) {
        self.init(delivery: delivery.id, attempts: delivery.attempts, status: nil, fault: .forbidden, delay: nil)
    }
}
