import Domain
import HTTPTypes
import Metrics
import Synchronization

/// The metrics of a route; the handles are made once, because making them costs more than counting.
///
/// Requests are counted by their route, never by their path, which may contain a token.
final class RouteMeter: Sendable {
    private let method: String
    private let route: String
    private let timer: Metrics.Timer
    private let counters = Mutex<[Int: Counter]>([:])

    init(_ served: Route) {
        method = served.method.rawValue
        route = served.path
        timer = Metrics.Timer(
            label: "paydesk_http_request_seconds", dimensions: [("method", method), ("route", route)])
    }

    func record(_ status: HTTPResponse.Status, _ duration: Duration) {
        let counter = counters.withLock { counters in
            if let known = counters[status.code] { return known }
            let made = Counter(
                label: "paydesk_http_requests_total",
                dimensions: [("method", method), ("route", route), ("status", String(status.code))])
            counters[status.code] = made
            return made
        }
        counter.increment()
        timer.recordNanoseconds(duration.nanoseconds)
    }
}
