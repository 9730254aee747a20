import Domain
import Gateway
package import HTTPTypes
import Logging
package import NIOCore

/// Refuses requests after their head, while the node is at its limit of concurrent work.
///
/// At twice the capacity more requests are refused than answered, so the cost of a refusal reduces the number of
/// answers: a refusal here uses no task, no router and no encoder. Requests that need more are passed on, and
/// ``Pipeline`` refuses them.
package struct LoadShedder: Sendable {
    package struct Refusal: Sendable {
        package let requestID: String
        package let body: ByteBuffer

        package init(requestID: String, body: ByteBuffer) {
            self.requestID = requestID
            self.body = body
        }
    }

    /// A refusal's text before and after the request id.
    private typealias Halves = (front: String, back: String)

    /// The status of every refusal.
    package let status: HTTPResponse.Status
    /// The headers of every refusal, without the request id.
    package let headers: HTTPFields

    private let concurrency: ConcurrencyLimit
    private let ids: IDSource
    private let logger: Logger
    private let reply: ErrorReply
    private let english: Halves?
    private let chinese: Halves?
    /// The meters by path and method, for paths without parameters only.
    private let meters: [String: [String: RouteMeter]]

    /// - Parameter servesTLS: true where this server has the TLS certificate.
    init(_ routes: [Route], concurrency: ConcurrencyLimit, ids: IDSource, servesTLS: Bool = false, logger: Logger) {
        self.concurrency = concurrency
        self.ids = ids
        self.logger = logger
        reply = ErrorReply(.temporarilyUnavailable(retryAfter: 1))
        status = reply.status
        var headers = Envelope.headers(of: reply, requestID: "")
        headers[.requestID] = nil
        SafetyHeaders<PeerContext>.add(to: &headers, servesTLS: servesTLS)
        self.headers = headers
        english = Envelope.halves(reply, language: "en")
        chinese = Envelope.halves(reply, language: "zh")
        var meters: [String: [String: RouteMeter]] = [:]
        for route in routes
        where route.parameterNames.isEmpty && route.errors == .envelope && !route.isAlwaysServed {
            meters[route.path, default: [:]][route.method.rawValue] = RouteMeter(route)
        }
        self.meters = meters
    }

    /// Returns the refusal of a request; nil where the request goes on.
    ///
    /// - Parameter target: the path and query of the request line.
    package func refusal(
        method: String, target: String, headers: some Sequence<(name: String, value: String)>
    ) -> Refusal? {
        guard concurrency.isFull else { return nil }
        let path = target.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(target[..<$0]) } ?? target
        guard let meter = meters[path]?[method] else { return nil }
        var (ownID, languages): (String?, String?)
        for (name, value) in headers {
            switch name.utf8.count {
            // A cross-origin request needs the answer's CORS headers, and `Expect` an interim answer.
            case 6 where name.isHeader("origin") || name.isHeader("expect"): return nil
            // A repeated header is joined by the framework, so the request is passed on.
            case 12 where name.isHeader("x-request-id"):
                guard ownID == nil else { return nil }
                ownID = value
            case 15 where name.isHeader("accept-language"):
                guard languages == nil else { return nil }
                languages = value
            default: break
            }
        }
        let isChinese = languages.map { reply.message(AcceptLanguage.parse($0)) == reply.chinese } ?? false
        guard let text = isChinese ? chinese : english else { return nil }
        let requestID = ids.requestID(ownID)
        meter.record(status, .zero)
        logger.debug(
            "request",
            metadata: [
                "route": "\(method) \(path)", "status": .stringConvertible(status.code),
                "duration_ms": .stringConvertible(0), "caller": "unknown", "request_id": "\(requestID)",
            ])
        var body = ByteBuffer()
        body.reserveCapacity(text.front.utf8.count + requestID.utf8.count + text.back.utf8.count)
        body.writeString(text.front)
        body.writeString(requestID)
        body.writeString(text.back)
        return Refusal(requestID: requestID, body: body)
    }
}

extension String {
    /// Compares a header's name with one in lower case, ignoring case (RFC 9110 section 5.1).
    fileprivate func isHeader(_ name: StaticString) -> Bool {
        name.withUTF8Buffer { utf8.elementsEqual($0) { $0 | 0x20 == $1 } }
    }
}
