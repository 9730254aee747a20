import Domain
import FoundationEssentials
import ProviderKit
import Synchronization

extension Check {
    static let answers = [
        Check("garbage instead of an answer is never believed and never a refusal") { stage in
            try await examine(FaultInjection.garbage, stage)
        },
        Check("a server error is never taken for a refusal") { stage in
            try await examine(FaultInjection.serverErrors, stage)
        },
        Check("impossible numbers in an answer are never a refusal") { stage in
            try await stage.needHTTP()
            var wasSpoiled = false
            for reach in FaultInjection.Reach.allCases {
                for trial in try await Trials(stage).all() {
                    if try await spoilNumbers(trial, reach, stage) { wasSpoiled = true }
                }
            }
            if !wasSpoiled { throw CheckStop.notApplicable("its answers have no JSON numbers") }
        },
        Check("an answer that is too large ends in an unknown outcome") { stage in
            try await examine([.tooLarge], stage)
        },
        Check("an answer that never comes ends in an unknown outcome") { stage in
            try await examine([.hanging(stage.clock)], stage)
        },
        Check("every call limits its time and the size of its answer") { stage in
            try await stage.needHTTP()
            for trial in try await Trials(stage).all() { try await stage.repeatHealthy(trial) }
            for request in stage.transport.requests {
                try stage.expect(
                    (1...60_000).contains(request.timeoutMilliseconds),
                    "\(request.method) \(request.url) may take \(request.timeoutMilliseconds) ms")
                try stage.expect(
                    (1...(16 << 20)).contains(request.maxReplyBytes),
                    "\(request.method) \(request.url) takes \(request.maxReplyBytes) bytes")
            }
        },
    ]

    private static func examine(_ troubles: [FaultInjection], _ stage: ConformanceFixture) async throws {
        try await stage.needHTTP()
        for trouble in troubles {
            for reach in FaultInjection.Reach.allCases {
                for trial in try await Trials(stage).all() { try await stage.examine(trial, in: trouble, reach) }
            }
        }
    }

    /// Replaces the numbers of answers by impossible ones, which must not be taken for a refusal by the service.
    private static func spoilNumbers(
        _ trial: Trial, _ reach: FaultInjection.Reach, _ stage: ConformanceFixture
    ) async throws -> Bool {
        let wasSpoiled = Mutex(false)
        let changes = stage.rehearsal.changesSomething
        stage.transport.interference = { request, answer throws(HTTPTransportError) in
            var reply = try await answer(request)
            guard reach == .all || (trial.isChange && changes(request)) else { return reply }
            let spoiled = UnknownFields.spoilingNumbers(of: reply.body)
            if spoiled != reply.body { wasSpoiled.withLock { $0 = true } }
            reply.body = spoiled
            return reply
        }
        let provider = try stage.provider()
        let end = try await stage.bounded(trial.name) { try await trial.run(provider) }
        stage.transport.interference = nil
        guard wasSpoiled.withLock({ $0 }) else { return false }
        switch end {
        case .failure(.rejected(let reason)): try stage.expect(false, "\(trial.name) was rejected for \(reason)")
        case .failure(.unsupported): try stage.expect(false, "\(trial.name) was unsupported")
        case .failure, .success: try stage.expect(true, "")
        }
        try await stage.repeatHealthy(trial)
        return true
    }
}

extension ConformanceFixture {
    /// Skips the check for a provider without HTTP calls, such as one that plays its own service.
    func needHTTP() async throws {
        try await needCallingOpen()
        if transport.requests.isEmpty { throw CheckStop.notApplicable("it plays its own service, without calls") }
    }
}
