import NIOCore
import TestSupport

/// The delay that Paydesk adds to a provider's own, and the effect of a hanging account on another account's checkouts.
struct CheckoutSection {
    let bench: Workbench
    let engine: Engine

    private static let upstream = TimeAmount.milliseconds(50)
    private static let perSecond: Int64 = 200
    /// The share, in fifths, of all checkouts that is for the measured account.
    private static let measuredOfFive: Int64 = 4
    private static let seconds: Int64 = 20
    private static let warmUp: Int64 = 3
    private static let customers = 1_000

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        return try await Cores.onSecond(bench) { try await figures(installation) }
    }

    private func figures(_ installation: Installation) async throws -> [Figure] {
        try await StripeUpstream.whileAnswering(after: Self.upstream) { well in
            try await StripeUpstream.whileAnswering(after: Self.upstream) { other in
                let direct = try Delays(try await Self.direct(to: UInt16(clamping: well.port), "/v1/payment_intents"))
                let relayed = try await relayed(to: well)
                try installation.addAccount("stripe-well", well.account("stripe-well"))
                try installation.addAccount("stripe-other", other.account("stripe-other"))
                return try await installation.whileServing(on: Cores.first) { server in
                    let customers = (0..<Self.customers).map { _ in Customer.new() }
                    _ = try await round(server, customers, seconds: Self.warmUp)
                    let (commits, before) = (try await server.commits(), try CPUTime.of(server.pid))
                    let alone = try Delays(try await round(server, customers, seconds: Self.seconds))
                    let cost = cost(
                        cpuSeconds: try CPUTime.of(server.pid) - before, commits: try await server.commits() - commits)
                    other.set(nil)
                    let beside = try Delays(try await round(server, customers, seconds: Self.seconds))
                    return cost + figures(direct: direct, relayed: relayed, alone: alone, beside: beside)
                }
            }
        }
    }

    /// The upstream's own delays, measured by the same client at the same pace; Paydesk adds the rest.
    private static func direct(to port: UInt16, _ path: String) async throws -> [Double?] {
        let measured = perSecond * measuredOfFive / 5
        let request = RequestBytes.post(
            path, port: port, token: "sk_test_benchmark",
            body: "amount=3990&currency=cny&metadata[payment_id]=pay_direct")
        return try await OpenLoopClient.run(
            Array(repeating: request, count: Int(measured * seconds / 4)), perSecond: measured, port: port,
            staysAwake: Cores.isDivided)
    }

    /// The delays through the framework and its HTTP client alone, which keep nothing.
    private func relayed(to upstream: StripeUpstream) async throws -> Delays {
        let port = try FreePort.next()
        let relay = Cores.first(
            [Workbench.bench, "relay", "--port", String(port), "--upstream", "\(upstream.url)/v1/payment_intents"])
        let server = try await ServerProcess.start(
            relay, port: port, in: try bench.makeFolder("relay"), name: "relay", ready: "/")
        return try await server.whileRunning { _ in
            _ = try await Self.direct(to: port, "/")
            return try Delays(try await Self.direct(to: port, "/"))
        }
    }

    /// Sends checkouts on both accounts at once.
    ///
    /// - Returns: the delays on the measured account.
    private func round(
        _ server: ServerProcess, _ customers: [Customer], seconds: Int64
    ) async throws -> [Double?] {
        let measured = Self.perSecond * Self.measuredOfFive / 5
        async let others = OpenLoopClient.run(
            requests(Int((Self.perSecond - measured) * seconds), "stripe-other", customers, server),
            perSecond: Self.perSecond - measured, port: server.port)
        let delays = try await OpenLoopClient.run(
            requests(Int(measured * seconds), "stripe-well", customers, server), perSecond: measured,
            port: server.port, staysAwake: Cores.isDivided)
        _ = try await others
        return delays
    }

    private func requests(
        _ count: Int, _ account: String, _ customers: [Customer], _ server: ServerProcess
    ) -> [ByteBuffer] {
        (0..<count).map { number in
            RequestBytes.post(
                "/v1/public/checkout", port: server.port, token: customers[number % customers.count].token,
                body:
                    #"{"sku":"vip_month","platform":"web","currency":"CNY","provider":"\#(account)","accept":["stripe"]}"#
            )
        }
    }

    /// The cost of one round's checkouts for the server.
    private func cost(cpuSeconds: Double, commits: Int) -> [Figure] {
        let count = Double(Self.perSecond * Self.seconds)
        return [
            Figure(
                section: .checkout, name: "checkouts, \(engine), at \(Self.perSecond)/s", value: count / cpuSeconds,
                unit: "/CPU s", aim: nil),
            Figure(
                section: .checkout, name: "commits per checkout, \(engine), at \(Self.perSecond)/s",
                value: Double(commits) / count, unit: "", aim: nil),
        ]
    }

    private func figures(direct: Delays, relayed: Delays, alone: Delays, beside: Delays) -> [Figure] {
        func added(_ name: String, _ value: Double, _ base: Double, aim: Aim?) -> Figure {
            Figure(
                section: .checkout, name: "checkout adds, \(engine), \(Self.perSecond)/s, \(name)",
                value: (value - base) * 1_000, unit: "ms", aim: aim)
        }
        return [
            Figure(
                section: .checkout, name: "checkouts without a contract, \(engine), of both rounds",
                value: Double(alone.missing + beside.missing), unit: "", aim: .atMost(0)),
            Figure(
                section: .checkout, name: "upstream asked directly, p50", value: direct.median * 1_000, unit: "ms",
                aim: nil),
            Figure(
                section: .checkout, name: "the framework and its client alone add, p50",
                value: (relayed.median - direct.median) * 1_000, unit: "ms", aim: nil),
            Figure(
                section: .checkout, name: "the framework and its client alone add, p99",
                value: (relayed.p99 - direct.p99) * 1_000, unit: "ms", aim: nil),
            added("p50", alone.median, direct.median, aim: .atMost(1)),
            added("p99", alone.p99, direct.p99, aim: .atMost(5)),
            Figure(
                section: .checkout, name: "checkout p99, \(engine), beside an account that hangs",
                value: beside.p99 * 1_000, unit: "ms", base: .figure("without it", alone.p99 * 1_000), aim: .atMost(1.2)
            ),
        ]
    }
}
