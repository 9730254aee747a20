import Domain
import FoundationEssentials
import Store

/// A delivery that is ready to be sent.
struct PreparedDelivery: Sendable {
    let id: ID<Delivery>
    let event: ID<Event>
    let type: String
    let place: AttemptPosition
    /// The line: deliveries with the same line are sent one after another.
    let line: String
    let attempts: Int64
    let body: Data
}

/// The deliveries of an endpoint that may be sent now.
enum DeliveryPermit: Sendable {
    case types(Set<EventType>)
    /// The endpoint has another address or secret, which another run will use.
    case changed
    /// The endpoint is disabled or deleted.
    case ended
}

/// The state of a run: the deliveries that wait, those under way, and the results that are still to be written.
///
/// One delivery of a line is under way at a time, in the order in which they came; lines do not wait for each other.
struct DeliveryLines {
    /// The largest number of deliveries that are held, those included whose line is busy.
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
    /// True once no delivery may start any more in this run.
    private(set) var isHeld = false

    init(width: Int) { self.width = width }

    /// True where the run leaves no delivery for another one; a run that ends early may still hold some.
    var isExhausted: Bool { isStopped || (isLastPage && waiting == 0) }

    /// True where a delivery could start that has no permit yet; marks that a permit is being asked for.
    mutating func wantsPermit() -> Bool {
        guard !isAsking, busy.count < width, !ready.isEmpty else { return false }
        isAsking = true
        return true
    }

    /// Takes the deliveries that may start now, and ends those that must not be sent any more.
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

    /// True where another page should be read, because few deliveries are left; marks that it is being read.
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

    /// Ends a delivery; an endpoint that answers 410, or whose first deliveries time out, gets no further ones in this run.
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
    /// The result of a delivery that no key of the partner may read any more; it ends without an attempt.
    fileprivate init(withheld delivery: PreparedDelivery) {
        self.init(delivery: delivery.id, attempts: delivery.attempts, status: nil, fault: .forbidden, delay: nil)
    }
}
