import Domain
import Foundation
import NIOCore
import ProviderKit
import Store
import TestSupport

/// The greatest rate of notifications that pay an order, and the share of it that the server reaches.
///
/// Such a notification is a request of the framework's, and leaves and changes rows. Its signature is an HMAC, which costs a
/// thousandth of that and is left out of the limit.
struct NotificationLimit {
    let bench: Workbench
    /// Runs the C program.
    let program: LimitSection

    /// The tables in which a payment changes rows; it only adds some to the others.
    private static let changed: Set = ["orders", "payments", "user_states"]
    /// The table of the service that the sandbox plays.
    private static let book = "account_book"

    func figures(emptyRoute requests: Double) async throws -> [Figure] {
        let rows = try await rows()
        let limit = 1 / (1 / requests + 1 / rows)
        let paid = try await notifications()
        return [
            program.figure("rows of a notification that pays by a C program", rows),
            program.figure("limit of a notification that pays: empty route and rows", limit),
            Figure(
                section: .limit, name: "notification that pays, SQLite, 64 clients, of its limit",
                value: paid.perCPUSecond, unit: "/CPU s", perSecond: paid.perSecond, base: .figure("the limit", limit),
                aim: .atLeast(0.5)),
        ]
    }

    /// A notification of the sandbox that a payment has succeeded.
    private static func notification(of payment: String, port: UInt16) throws -> ByteBuffer {
        let now = Timestamp(Int64(Date().timeIntervalSince1970))
        guard let currency = Currency("CNY") else { throw BenchFailure(description: "CNY is no currency") }
        let notice = SandboxNotice(
            event_id: "\(payment) paid", payment_id: payment, type: "payment.succeeded",
            amount: Money(value: 3_990, currency: currency), occurred_at: now.rawValue)
        let raw = try notice.signed(at: now, secret: Installation.sandboxSecret)
        guard let signature = raw.headers.first else { throw BenchFailure(description: "a notice has no signature") }
        return RequestBytes.notification(
            Installation.sandboxNotifications, port: port, signature: signature,
            body: String(decoding: raw.body, as: UTF8.self))
    }

    private static func payments(_ installation: Installation) async throws -> [String] {
        try await Seeder.read(try DatabaseURL(installation.databaseURL)) { db in
            try db.rows("SELECT id FROM payments WHERE state = 'pending' ORDER BY id").map { try $0.text("id") }
        }
    }

    private func notifications() async throws -> Measurement {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        try installation.addAccount("box", Installation.sandbox)
        return try await installation.whileServing { server in
            func pay(_ count: Int) async throws -> Measurement {
                let checkouts = (0..<count).map { _ in Customer.new().checkout(port: server.port) }
                _ = try await server.measure(
                    LoadPlan(clients: Workbench.manyClients, length: .once, requests: checkouts))
                let notifications = try await Self.payments(installation).map {
                    try Self.notification(of: $0, port: server.port)
                }
                guard notifications.count == count else {
                    throw BenchFailure(description: "\(notifications.count) of \(count) payments are open")
                }
                return try await server.measure(
                    LoadPlan(clients: Workbench.manyClients, length: .once, requests: notifications))
            }
            _ = try await pay(500)
            return try await pay(bench.attaches)
        }
    }

    /// Notifications per second of CPU time by the C program, in a database of the server's with the rows of a paid order.
    private func rows() async throws -> Double {
        let installation = try Installation(bench, on: .sqlite)
        defer { installation.remove() }
        try installation.addAccount("box", Installation.sandbox)
        let url = try DatabaseURL(installation.databaseURL)
        guard case .sqlite(let database) = url else { throw BenchFailure(description: "the rows of another engine") }
        let customer = Customer.new()
        func footprint(after request: (UInt16) throws -> ByteBuffer) async throws -> Footprint {
            try await installation.whileServing { server in
                _ = try await server.measure(
                    LoadPlan(clients: 1, length: .once, requests: [try request(server.port)]))
            }
            return try await Seeder.read(url) {
                try Footprint(of: [customer.name], in: $0, leavingOut: [Self.book])
            }
        }
        let opened = try await footprint { customer.checkout(port: $0) }
        guard let payment = try await Self.payments(installation).first else {
            throw BenchFailure(description: "the checkout made no payment")
        }
        let paid = try await footprint { try Self.notification(of: payment, port: $0) }
        let clones = CloneStatements(
            footprint: paid, dialect: .sqlite, user: customer.name, transaction: "no transaction of a store")
        _ = try await program.rate(of: clones.ofOneUser(opened.entries), in: database, installation)
        return try await program.rate(
            of: clones.ofOneUser(since: opened, changing: Self.changed), in: database, installation)
    }
}
