import Domain
import ProviderKit

extension Check {
    static let crashes = [
        Check("an opening that ended between any two steps is repeated with one effect") { stage in
            try await stage.needCallingOpen()
            try await stage.crash { try Trials(stage).opening() }
        },
        Check("a cancel that ended between any two steps is repeated to its end") { stage in
            if stage.manifest.cancel == .none { throw CheckStop.notApplicable("the manifest says cancel: none") }
            let provider = try stage.provider()
            if provider.contractTypes == [.none] {
                throw CheckStop.notApplicable("this account's payments are paid at once")
            }
            try await stage.crash { try await Trials(stage).cancel(try stage.provider()) }
        },
        Check("a refund that ended between any two steps is repeated with one effect") { stage in
            if stage.manifest.refunds == .none { throw CheckStop.notApplicable("the manifest says refunds: none") }
            try await stage.crash { try await Trials(stage).refund(try stage.provider()) }
        },
    ]
}

extension ConformanceFixture {
    private static let stepLimit = 50

    /// Ends the process before and after each step in turn, and repeats the call with a new process.
    func crash(_ make: () async throws -> Trial) async throws {
        for step in 1...Self.stepLimit {
            for tookEffect in [false, true] {
                let place = CrashPoint.Place(step: step, tookEffect: tookEffect)
                let trial = try await make()
                let provider = try provider()
                transport.crash.begin(place)
                let end = try await bounded("\(trial.name) that ended \(place)") { try await trial.run(provider) }
                let wasReached = transport.crash.wasReached
                try await repeatHealthy(trial)
                // The call has fewer steps than this one.
                guard wasReached else { return try expect(step > 1, "\(trial.name) has no step at all") }
                switch end {
                case .failure(.rejected(let reason)):
                    try expect(false, "\(trial.name) that ended \(place) was rejected for \(reason)")
                case .failure(.unsupported):
                    try expect(false, "\(trial.name) that ended \(place) was unsupported")
                case .failure, .success: try expect(true, "")
                }
            }
        }
        throw CheckStop.failed("a single call takes more than \(Self.stepLimit) steps")
    }
}
