import Foundation
import NIOCore
import Synchronization
import TestSupport

/// The time until all subscriptions that fall due in the same second are charged, and the delay of checkouts meanwhile.
///
/// All are charged by the same account, whose service takes as long for each call as in ``CheckoutSection``. The limit of
/// `billing.per_second` is so high that it holds nothing back.
struct RenewalsSection {
    let bench: Workbench
    let engine: Engine
    let subscriptions: Int

    private static let account = "stripe-renewals"
    private static let sku = "club_month"
    private static let upstream = TimeAmount.milliseconds(50)
    /// The checkouts of a second before and during the renewals.
    private static let perSecond: Int64 = 20
    private static let seconds: Int64 = 10
    private static let customers = 1_000
    /// Fewer imports a second than a machine of two cores makes, so that all are imported before the first is due.
    private static let importsPerSecond = 100
    /// The seconds before the first renewal that the checkouts alone, and the server's rest before them, may take.
    private static let lead = 60
    /// The time after which renewals that are not yet charged are given up.
    private static let patience = Duration.seconds(900)

    /// The outcome of all renewals.
    private struct Outcome {
        let seconds: Double
        let cpuSeconds: Double
        let commits: Int
        let charged: Int
        let paidAtService: Int
    }

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        return try await StripeUpstream.whileAnswering(after: .zero) { service in
            try installation.addAccount(Self.account, service.account(Self.account))
            return try await installation.whileServing { server in
                let partner = try await Partner(bench, at: installation)
                let due = Date().addingTimeInterval(
                    Double(subscriptions / Self.importsPerSecond + Self.lead))
                try await begin(partner, server, due: Int64(due.timeIntervalSince1970))
                service.set(Self.upstream)
                let customers = (0..<Self.customers).map { _ in Customer.new() }
                _ = try await checkouts(server, customers)
                let alone = try Delays(try await checkouts(server, customers))
                let left = due.timeIntervalSinceNow
                guard left > 0 else { throw BenchFailure(description: "the subscriptions were due too early") }
                try await Task.sleep(for: .seconds(left))
                let isOver = Flag()
                async let outcome = renew(server, service, isOver)
                var delays: [Double?] = []
                while !isOver.isSet { delays += try await checkouts(server, customers) }
                return figures(try await outcome, alone: alone, beside: try Delays(delays))
            }
        }
    }

    /// Imports subscriptions whose first renewals have the same time.
    private func begin(_ partner: Partner, _ server: ServerProcess, due: Int64) async throws {
        let requests = (0..<subscriptions).map { number in
            RequestBytes.post(
                "/v1/admin/subscriptions/import", port: server.port, token: partner.key,
                body: """
                    {"external_id":"renewal-\(number)","user_id":"\(Customer.name(UInt32(number)))","sku":"\(Self.sku)",\
                    "account":"\(Self.account)","mandate":{"reference":"pm_\(number)"},"period_end":\(due)}
                    """)
        }
        _ = try await server.measure(LoadPlan(clients: 16, length: .once, requests: requests))
    }

    private func checkouts(_ server: ServerProcess, _ customers: [Customer]) async throws -> [Double?] {
        let requests = (0..<Int(Self.perSecond * Self.seconds)).map {
            customers[$0 % customers.count].checkout(port: server.port)
        }
        return try await OpenLoopClient.run(requests, perSecond: Self.perSecond, port: server.port)
    }

    /// Waits until all renewals are recorded as charged.
    private func renew(
        _ server: ServerProcess, _ service: StripeUpstream, _ isOver: Flag
    ) async throws -> Outcome {
        defer { isOver.set() }
        let (started, cpu) = (ContinuousClock.now, try CPUTime.of(server.pid))
        let commits = try await server.commits()
        var charged = 0
        while charged < subscriptions, ContinuousClock.now - started < Self.patience {
            try await Task.sleep(for: .milliseconds(500))
            charged = try await server.metric(#"paydesk_renewals_total{outcome="succeeded"}"#)
        }
        return Outcome(
            seconds: (ContinuousClock.now - started).seconds, cpuSeconds: try CPUTime.of(server.pid) - cpu,
            commits: try await server.commits() - commits, charged: charged, paidAtService: service.paid)
    }

    private func figures(_ outcome: Outcome, alone: Delays, beside: Delays) -> [Figure] {
        let name = "\(engine), \(subscriptions) due in one second"
        let count = Double(subscriptions)
        func delay(_ part: String, _ value: Double, base: Double) -> Figure {
            Figure(
                section: .renewals, name: "checkout \(part), \(Self.perSecond)/s, \(name)", value: value * 1_000,
                unit: "ms", base: .figure("before", base * 1_000))
        }
        return [
            Figure(section: .renewals, name: "until all are charged, \(name)", value: outcome.seconds, unit: "s"),
            Figure(
                section: .renewals, name: "not charged, \(name)", value: count - Double(outcome.charged), unit: "",
                aim: .exactly(0), isDuty: true),
            Figure(
                section: .renewals, name: "charged more than once, \(name)",
                value: Double(outcome.paidAtService) - count, unit: "", aim: .exactly(0), isDuty: true),
            Figure(
                section: .renewals, name: "renewals, with \(Self.perSecond) checkouts a second, \(name)",
                value: count / outcome.cpuSeconds, unit: "/CPU s", perSecond: count / outcome.seconds),
            Figure(
                section: .renewals, name: "commits per renewal, the checkouts' among them, \(name)",
                value: Double(outcome.commits) / count, unit: ""),
            delay("p50", beside.median, base: alone.median), delay("p99", beside.p99, base: alone.p99),
            Figure(
                section: .renewals, name: "checkouts without a contract, \(name)",
                value: Double(alone.missing + beside.missing), unit: "", aim: .atMost(0)),
        ]
    }
}

/// A fact that becomes true once.
private final class Flag: Sendable {
    private let value = Atomic<Bool>(false)

    var isSet: Bool { value.load(ordering: .relaxed) }

    func set() { value.store(true, ordering: .relaxed) }
}
