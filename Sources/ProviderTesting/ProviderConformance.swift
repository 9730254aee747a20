import ProviderKit

/// Runs a provider through everything that Paydesk relies on, and reports what does not hold.
///
/// The provider's manifest decides which checks apply; a check that applies and examines nothing is red. The kit's third
/// version also examines mandates, where the manifest has them, its fourth the types of an account and wallets' payers.
public struct ProviderConformance: Sendable {
    private let subject: String
    private let seed: UInt64?
    private let rehearse: @Sendable () throws -> any Rehearsal

    /// - Parameters:
    ///   - seed: for rehearsals that share one payment service: it gives every check ids of its own, and another seed
    ///     gives others. Without it every check uses the same ids.
    ///   - rehearse: makes a fresh rehearsal for each check.
    public init(_ subject: String, seed: UInt64? = nil, rehearse: @escaping @Sendable () throws -> any Rehearsal) {
        self.subject = subject
        self.seed = seed
        self.rehearse = rehearse
    }

    public static var checkNames: [String] { checks.map(\.name) }

    /// The names of the checks that apply to providers with mandates alone, in their order.
    public static var mandateCheckNames: [String] { mandateChecks.map(\.name) }

    /// Runs the checks one after the other; the last ones look for secrets in everything that the others recorded.
    ///
    /// - Parameter names: the checks to run, of ``checkNames``; all by default. The report has these alone, and a name
    ///   without a check as failed.
    public func run(only names: Set<String>? = nil) async -> ConformanceReport {
        let transcript = Transcript()
        var results: [ConformanceReport.Result] = []
        for name in (names ?? []).subtracting(Self.checkNames).sorted() {
            results.append(ConformanceReport.Result(name: name, outcome: .failed(reason: "there is no such check")))
        }
        for (index, check) in Self.checks.enumerated() where names?.contains(check.name) ?? true {
            let outcome = await run(check, transcript, seed: seed.map { $0 &+ UInt64(index) } ?? 1)
            results.append(ConformanceReport.Result(name: check.name, outcome: outcome))
        }
        return ConformanceReport(subject: subject, results: results)
    }

    static let checks: [Check] =
        Check.manifest + Check.opening + Check.choosing + Check.querying + Check.cancelling + Check.refunding
        + Check.notifications
        + Check.signatures + Check.strangers + Check.unknowns + Check.orders + Check.troubles + Check.answers
        + Check.crashes + Check.pages + mandateChecks + Check.secrecy

    private static let mandateChecks = Check.setups + Check.charges + Check.mandates + Check.mandateTroubles

    /// The most calls in a whole check; a provider that exceeds it is taken to loop.
    private static let callLimit = 20_000

    private func run(
        _ check: Check, _ transcript: Transcript, seed: UInt64
    ) async -> ConformanceReport.Outcome {
        let stage: ConformanceFixture
        do { stage = try ConformanceFixture(rehearse(), transcript, seed: seed) } catch {
            return .failed(reason: "stopped by \(error)")
        }
        return await withCheckedContinuation { continuation in
            let once = Once(continuation)
            stage.transport.checkLimit.set(Self.callLimit) {
                once.resume(.failed(reason: "the provider asks for ever: more than \(Self.callLimit) calls"))
            }
            Task { once.resume(await Self.run(check, stage)) }
        }
    }

    private static func run(_ check: Check, _ stage: ConformanceFixture) async -> ConformanceReport.Outcome {
        do {
            try await check.body(stage)
            return stage.expectations > 0 ? .passed : .failed(reason: "the check examined nothing")
        } catch let stop as CheckStop {
            return stop.outcome
        } catch {
            return .failed(reason: "stopped by \(error)")
        }
    }
}

/// A named requirement on a provider.
struct Check: Sendable {
    let name: String
    let body: @Sendable (ConformanceFixture) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (ConformanceFixture) async throws -> Void) {
        self.name = name
        self.body = body
    }
}

/// Ends a check early, with its outcome.
enum CheckStop: Error {
    case failed(String)
    case notApplicable(String)

    var outcome: ConformanceReport.Outcome {
        switch self {
        case .failed(let reason): .failed(reason: reason)
        case .notApplicable(let why): .notApplicable(why: why)
        }
    }
}
