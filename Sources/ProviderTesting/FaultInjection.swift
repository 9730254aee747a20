import FoundationEssentials
import ProviderKit
import Synchronization

/// A fault that replaces a payment service's answer.
struct FaultInjection: Sendable {
    /// The answers that the fault replaces.
    enum Reach: Sendable, CaseIterable {
        case all
        /// The answers to calls that change an object; queries before them get genuine answers.
        case changes
    }

    let name: String
    /// True where the calls take effect nevertheless.
    let tookEffect: Bool
    /// True where such an answer carries no proof that it comes from the service.
    var isUnproven = false
    let interfere: RecordingTransport.Interference

    /// Replaces the body of the answer.
    static func body(
        _ name: String, _ change: @escaping @Sendable (IncomingReply, OutgoingRequest) -> Data
    ) -> FaultInjection {
        FaultInjection(name: name, tookEffect: true, isUnproven: true) { request, answer throws(HTTPTransportError) in
            var reply = try await answer(request)
            // An answer without a body says everything by its status.
            if !reply.body.isEmpty { reply.body = change(reply, request) }
            return reply
        }
    }

    static func status(_ status: Int, tookEffect: Bool) -> FaultInjection {
        let name = "a \(status) \(tookEffect ? "after" : "without") an effect"
        return FaultInjection(name: name, tookEffect: tookEffect) { request, answer throws(HTTPTransportError) in
            if tookEffect { _ = try await answer(request) }
            return IncomingReply(
                status: status, headers: [(name: "content-type", value: "text/html")],
                body: Data("<html><title>\(status)</title></html>".utf8))
        }
    }

    static let garbage: [FaultInjection] = [
        .body("nothing") { _, _ in Data() },
        .body("a web page") { _, _ in Data("<!DOCTYPE html>\n<html><body>Welcome</body></html>".utf8) },
        .body("half of the answer") { reply, _ in Data(reply.body.prefix(reply.body.count / 2)) },
        .body("null") { _, _ in Data("null".utf8) },
        .body("an empty object") { _, _ in Data("{}".utf8) },
        .body("an empty list") { _, _ in Data("[]".utf8) },
        .body("bytes that are no text") { _, _ in Data((0..<512).map { UInt8(truncatingIfNeeded: $0 ^ 0xFF) }) },
        .body("a deep tree") { _, _ in Data(String(repeating: #"{"a":"#, count: 20_000).utf8) },
        .body("brackets up to the limit") { _, request in
            Data(repeating: 0x5B, count: max(0, min(request.maxReplyBytes, 1 << 20)))
        },
    ]

    static let serverErrors: [FaultInjection] =
        [500, 502, 503, 504].map { .status($0, tookEffect: false) }
        + [500, 502, 504].map { .status($0, tookEffect: true) }

    /// Simulates the transport's size limit, which refuses a larger answer than the call allows.
    static let tooLarge = FaultInjection(name: "an answer that is too large", tookEffect: true) {
        request, answer throws(HTTPTransportError) in
        _ = try await answer(request)
        throw .outcomeUnknown
    }

    /// Simulates the transport's time limit, which waits no longer than the call allows.
    static func hanging(_ clock: ManualClock) -> FaultInjection {
        FaultInjection(name: "no answer within the time limit", tookEffect: true) {
            request, answer throws(HTTPTransportError) in
            _ = try await answer(request)
            // A day is enough to show that a limit is too long.
            clock.advance(seconds: min(request.timeoutMilliseconds / 1_000, 86_400) + 1)
            throw .outcomeUnknown
        }
    }
}

extension ConformanceFixture {
    /// Runs a trial under this fault; an outcome that claims too much is a failure.
    ///
    /// - Returns: whether the fault met any of its calls.
    @discardableResult
    func examine(_ trial: Trial, in trouble: FaultInjection, _ reach: FaultInjection.Reach) async throws -> Bool {
        let met = Mutex(false)
        let changes = rehearsal.changesSomething
        let before = transport.requests.count
        transport.interference = { request, answer throws(HTTPTransportError) in
            guard reach == .all || (trial.isChange && changes(request)) else { return try await answer(request) }
            let honest = Mutex<IncomingReply?>(nil)
            do throws(HTTPTransportError) {
                let reply = try await trouble.interfere(request) { request throws(HTTPTransportError) in
                    let reply = try await answer(request)
                    honest.withLock { $0 = reply }
                    return reply
                }
                // An answer that is left unchanged, because it has no body, is no fault.
                let isSpoiled = honest.withLock { $0?.status != reply.status || $0?.body != reply.body }
                if isSpoiled { met.withLock { $0 = true } }
                return reply
            } catch {
                met.withLock { $0 = true }
                throw error
            }
        }
        let provider = try provider()
        let what = "\(trial.name) that is answered by \(trouble.name)"
        let end = try await bounded(what) { try await trial.run(provider) }
        transport.interference = nil
        guard met.withLock({ $0 }) else { return false }
        let changed = trial.isChange && transport.requests[before...].contains(where: changes)
        switch end {
        case .success(let said): try expect(false, "\(what) gave \(said)")
        case .failure(let error):
            try expect(trouble.allows(error, changed: changed), "\(what) threw \(error)")
        }
        try await repeatHealthy(trial)
        return true
    }
}

extension FaultInjection {
    /// - Parameter changed: true where a call that changes something was sent.
    func allows(_ error: ProviderError, changed: Bool) -> Bool {
        switch error {
        case .outcomeUnknown: true
        // The claim that nothing happened must be true.
        case .unavailable: !(changed && tookEffect)
        case .unproven: isUnproven
        case .rejected, .unfit, .unsupported: false
        }
    }
}
