import AppStoreBox
package import Domain
import Foundation
package import ProviderKit
import Synchronization

/// Apple's External Purchase Server API with scripted faults; it takes what Apple's documented schema takes.
package final class FakeExternalPurchaseAPI: HTTPTransport {
    /// The trouble of one call.
    package enum Fault: Sendable, Equatable {
        /// The call never reaches Apple.
        case notSent
        /// Apple answers this instead of taking the call.
        case answer(Int, String)
        /// Apple takes the call, and the answer is lost.
        case lost
    }

    private struct State {
        var faults: [Fault] = []
        var accepted: [ExternalReportBody] = []
        var calls: [String] = []
        var bodies: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds faults, each of the next call.
    package func script(_ faults: Fault...) { state.withLock { $0.faults += faults } }
    package func script(_ faults: [Fault]) { state.withLock { $0.faults += faults } }

    /// Ends all trouble.
    package func heal() { state.withLock { $0.faults = [] } }

    /// The methods of all calls, in their order.
    package var calls: [String] { state.withLock { $0.calls } }
    /// The bodies of all reports that were sent, accepted or not.
    package var bodies: [String] { state.withLock { $0.bodies } }
    /// The reports that Apple has.
    package var accepted: [ExternalReportBody] { state.withLock { $0.accepted } }
    package var items: [ExternalLineItem] { accepted.flatMap { $0.lineItems ?? [] } }

    package func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        guard let range = request.url.range(of: "/externalPurchase/v1/reports") else {
            return IncomingReply(status: 404, body: Data())
        }
        let fault = state.withLock { state in
            state.calls.append(request.method)
            if request.method == "PUT" { state.bodies.append(String(decoding: request.body, as: UTF8.self)) }
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        switch fault {
        case .notSent: throw .notSent
        case .answer(let status, let body): return IncomingReply(status: status, body: Data(body.utf8))
        case .lost:
            _ = reply(to: request, String(request.url[range.upperBound...].dropFirst()))
            throw .outcomeUnknown
        case nil: return reply(to: request, String(request.url[range.upperBound...].dropFirst()))
        }
    }

    private func reply(to request: OutgoingRequest, _ identifier: String) -> IncomingReply {
        state.withLock { state in
            guard request.method == "PUT" else {
                return state.accepted.contains { $0.requestIdentifier == identifier }
                    ? IncomingReply(status: 200, body: Data("{}".utf8))
                    : Self.json(400, #"{"errorCode":2,"errorMessage":"Not found.","fieldName":"requestIdentifier"}"#)
            }
            guard let json = try? JSONDecoder().decode(JSONValue.self, from: request.body) else {
                return Self.json(400, #"{"errorCode":3,"errorMessage":"No JSON."}"#)
            }
            let body = try? JSONDecoder().decode(ExternalReportBody.self, from: request.body)
            let newest = body?.lineItems?.map(\.creationDate).max() ?? 0
            switch ExternalReportCheck(after: state.accepted, now: newest).verdict(json) {
            case .accepted:
                if let body { state.accepted.append(body) }
                return IncomingReply(status: 200, body: Data("{}".utf8))
            case .malformed(let words): return Self.json(400, #"{"errorCode":3,"errorMessage":"\#(words)"}"#)
            case .refused(let faults):
                let list = (try? JSONText.line(faults)) ?? "[]"
                return Self.json(400, #"{"errors":\#(list)}"#)
            }
        }
    }

    private static func json(_ status: Int, _ body: String) -> IncomingReply {
        IncomingReply(status: status, body: Data(body.utf8))
    }
}
