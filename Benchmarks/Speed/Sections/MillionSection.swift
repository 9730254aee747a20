import Foundation
import Store
import TestSupport

/// Lists, searches, explanations and sums of an installation with a million orders, and `/readyz` beside them.
struct MillionSection {
    let bench: Workbench
    let engine: Engine
    let orders: Int
    let progress: (String) -> Void

    private static let rounds = 7
    private static let aim = Aim.atMost(50)

    func figures() async throws -> [Figure] {
        let installation = try Installation(bench, on: engine)
        defer { installation.remove() }
        // The server makes the first order; the seeder copies its terms.
        let (customer, sale) = (Customer.new(), Customer.purchase())
        try await installation.whileServing { server in
            let request = customer.attach(sale, port: server.port)
            _ = try await server.measure(LoadPlan(clients: 1, length: .once, requests: [request]))
        }
        let started = ContinuousClock.now
        let url = try DatabaseURL(installation.databaseURL)
        let seeder = OrderSeeder(
            dialect: engine == .sqlite ? .sqlite : .postgres, count: orders, now: Int64(Date().timeIntervalSince1970))
        try await Seeder.write(seeder.chunks, to: url)
        progress("\(engine) with \(orders) orders, filled in \(Int((ContinuousClock.now - started).seconds)) s")
        try installation.analyze()
        let keys = try await keys(installation)
        return try await installation.whileServing { server in
            var figures: [Figure] = []
            for (name, path, bearer) in requests(keys) {
                let times = try await times(path, bearer, server)
                figures.append(
                    Figure(
                        section: .million, name: "\(name), \(engine), \(orders) orders", value: times.median,
                        unit: "ms",
                        aim: Self.aim))
            }
            return figures + [try await readiness(server, keys)]
        }
    }

    private struct Keys {
        let admin: String
        let partner: String
        let user: String
    }

    /// Makes keys by the command line, as an operator does.
    private func keys(_ installation: Installation) async throws -> Keys {
        func key(_ name: String, _ scopes: String) async throws -> String {
            let output = try await bench.run(
                [bench.paydesk, "keys", "create", "--name", name, "--scopes", scopes], name: "keys-\(name)",
                in: installation.folder)
            guard let key = output.firstMatch(of: /pdk_[A-Za-z0-9_-]+/) else {
                throw BenchFailure(description: "no key was made: \(output)")
            }
            return String(key.output)
        }
        return Keys(
            admin: try await key("bench", "admin"), partner: try await key("partner-1", "orders:read,events:read"),
            user: Customer(name: "buyer-7919").token)
    }

    private typealias Request = (name: String, path: String, bearer: String)

    private func requests(_ keys: Keys) -> [Request] { orders(keys) + searches(keys) + others(keys) }

    /// Lists of orders by their filters.
    private func orders(_ keys: Keys) -> [Request] {
        let middle = Int64(Date().timeIntervalSince1970) - Int64(orders) / 500 * 1_800
        let period = "from=\(middle)&to=\(middle + 86_400)"
        let filters = [
            "", "status=open", "status=paid", "status=refunded", "status=partially_refunded", "status=closed",
            "provider=stripe-main", "provider=apple-iap", "provider=none", "reference=ref-\(orders / 2 + 1)",
            "reference=tx-\(orders / 2)", "reference=none", "user_id=buyer-7919", period, "status=refunded&\(period)",
            "status=partially_refunded&provider=alipay-main", "status=open&provider=none",
            "provider=stripe-main&\(period)", "user_id=buyer-7919&status=refunded&provider=stripe-main",
        ]
        // Filters of the console, also where few orders or none meet all of them.
        let consoles = [
            "sku=vip_year", "sku=coins", "sku=vip_month&environment=Sandbox", "sku=vip_year&platform=ios",
            "sku=vip_month&environment=Xcode", "sku=vip_year&status=refunded", "environment=Sandbox",
            "environment=Xcode", "platform=android", "environment=Sandbox&platform=desktop", "dispute=open",
            "dispute=lost&\(period)", "anomaly=duplicate_payment", "anomaly=amount_mismatch",
            "sku=vip_year&environment=Production&platform=web&status=paid", "user_id=buyer-7919&sku=vip_month",
            "sku=vip_month&\(period)", "environment=Production&\(period)",
        ]
        let admins: [Request] = (filters + consoles).map {
            ("admin's orders \($0)", "/v1/admin/orders?limit=50&\($0)", keys.admin)
        }
        return admins + filters.map { ("partner's orders \($0)", "/v1/partner/orders?limit=50&\($0)", keys.partner) }
    }

    private func searches(_ keys: Keys) -> [Request] {
        let texts = [
            "ref-\(orders / 2 + 1)", "tx-\(orders / 2)", "buyer-7919", "buyer-1", "b", "vip_month", "nobody",
            "ord_00000000000000000000000000",
        ]
        return texts.map { ("search \($0)", "/v1/admin/search?q=\($0)", keys.admin) }
    }

    private func others(_ keys: Keys) -> [Request] {
        [
            ("200 orders", "/v1/admin/orders?limit=200", keys.admin),
            ("a user's orders", "/v1/public/orders", keys.user),
            ("a user's subscriptions", "/v1/public/subscriptions", keys.user),
            ("explain", "/v1/admin/users/buyer-7919/entitlements/explain", keys.admin),
            ("explain by its user", "/v1/public/entitlements/explain?sku=vip_month", keys.user),
            ("entitlements", "/v1/admin/users/buyer-7919/entitlements", keys.admin),
            ("statistics of 30 days", "/v1/admin/stats", keys.admin),
            (
                "statistics of 400 days",
                "/v1/admin/stats?from=\(Int64(Date().timeIntervalSince1970) - 399 * 86_400)", keys.admin
            ),
            ("statistics by method", "/v1/admin/stats?by=method", keys.admin),
            ("statistics by SKU", "/v1/admin/stats?by=sku", keys.admin),
            ("what waits for a person", "/v1/admin/attention", keys.admin),
            ("people", "/v1/admin/users?prefix=buyer-7", keys.admin),
            ("a person", "/v1/admin/users/buyer-7919", keys.admin),
            ("disputes", "/v1/admin/disputes?status=open", keys.admin),
            ("products that wait", "/v1/admin/products/waiting", keys.admin),
            ("audit", "/v1/admin/audit", keys.admin),
            ("a user's audit", "/v1/admin/audit?user_id=buyer-7919", keys.admin),
            ("notifications", "/v1/admin/notifications?status=rejected", keys.admin),
            ("jobs", "/v1/admin/jobs?status=quarantined", keys.admin),
            ("purchases that wait", "/v1/admin/purchases", keys.admin),
            ("purchases without a user", "/v1/admin/purchases?state=unclaimed", keys.admin),
            ("events", "/v1/partner/events?after=\(orders / 2)", keys.partner),
        ]
    }

    /// The milliseconds of each exchange on a connection of its own, without the first one.
    private func times(_ path: String, _ bearer: String, _ server: ServerProcess) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0...Self.rounds {
            let started = ContinuousClock.now
            let reply = await LoopbackHTTP.send(
                "GET", path, port: server.port, headers: ["Authorization": "Bearer \(bearer)"])
            times.append((ContinuousClock.now - started).seconds * 1_000)
            // A report that exceeds its time is refused, which is a slow answer and no end of the run.
            guard reply?.status == 200 || reply?.status == 503 else {
                throw BenchFailure(description: "\(path): \(reply.map { "\($0.status) \($0.body)" } ?? "no answer")")
            }
        }
        return Array(times.dropFirst())
    }

    /// The slowest of 200 `/readyz` beside lists of 200 objects and an export.
    private func readiness(_ server: ServerProcess, _ keys: Keys) async throws -> Figure {
        async let lists = withThrowingTaskGroup(of: Void.self) { group in
            for path in ["/v1/admin/orders?limit=200", "/v1/partner/events?limit=200", "/v1/admin/export/orders.csv"] {
                group.addTask {
                    for _ in 0..<(path.hasSuffix("csv") ? 1 : 50) {
                        let bearer = path.contains("partner") ? keys.partner : keys.admin
                        _ = await LoopbackHTTP.send(
                            "GET", path, port: server.port, headers: ["Authorization": "Bearer \(bearer)"])
                    }
                }
            }
            try await group.waitForAll()
        }
        var slowest = 0.0
        for _ in 0..<200 {
            let started = ContinuousClock.now
            let status = await LoopbackHTTP.send("GET", "/readyz", port: server.port)?.status
            guard status == 200 else { throw BenchFailure(description: "/readyz: \(status ?? 0)") }
            slowest = max(slowest, (ContinuousClock.now - started).seconds * 1_000)
        }
        try await lists
        return Figure(
            section: .million, name: "slowest /readyz beside lists and an export, \(engine)", value: slowest,
            unit: "ms",
            aim: Self.aim)
    }
}
