import Foundation

/// Begins subscriptions by importing them, so that their first renewal is at a chosen time.
struct RenewalBeginning: Sendable {
    /// The answers of the service to later charges.
    enum Reply: String, Sendable, CaseIterable {
        case answered = "succeed"
        /// The charge takes effect, and its answer is lost.
        case lost
    }

    let port: UInt16
    let adminKey: String

    private static let lanes = 8

    private struct Mandate: Encodable { let reference: String }

    private struct Import: Encodable {
        let external_id: String
        let user_id: String
        let sku: String
        let account: String
        let mandate: Mandate
        let period_end: Int64
    }

    private struct Imported: Decodable {
        struct Subscription: Decodable { let id: String }
        let data: Subscription
    }

    /// A subscription to begin.
    struct Wish: Sendable {
        let user: String
        let plan: RenewalPlan
        let account: String
        let firstStart: Int64
        let reply: Reply
    }

    /// Begins subscriptions, several at a time.
    func begin(_ wishes: [Wish], in lives: RenewalLives) async throws {
        try await withThrowingTaskGroup { group in
            for lane in 0..<Self.lanes {
                group.addTask {
                    let connection = HTTPConnection(port: port)
                    for index in stride(from: lane, to: wishes.count, by: Self.lanes) {
                        lives.add(try await begin(wishes[index], connection))
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func begin(_ wish: Wish, _ connection: HTTPConnection) async throws -> RenewalLife {
        let body = Import(
            external_id: wish.user, user_id: wish.user, sku: wish.plan.sku, account: wish.account,
            mandate: Mandate(reference: "imported_\(wish.user)"), period_end: wish.firstStart)
        let reply = await connection.send(
            try Request.post("/v1/admin/subscriptions/import", bearer: adminKey, body))
        guard let reply, reply.status == 200 else { throw Self.failure("a subscription cannot begin", reply) }
        let id = try JSONDecoder().decode(Imported.self, from: reply.body).data.id
        if wish.reply != .answered { try await play(wish.reply, of: id, connection) }
        return RenewalLife(
            subscription: id, user: wish.user, account: wish.account, plan: wish.plan, firstStart: wish.firstStart)
    }

    private func play(_ reply: Reply, of subscription: String, _ connection: HTTPConnection) async throws {
        let request = Request(
            method: "POST", path: "/sandbox/mandates/\(subscription)",
            headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "renewals=\(reply.rawValue)")
        let reply = await connection.send(request)
        guard let reply, [200, 204, 303].contains(reply.status) else {
            throw Self.failure("the service cannot be told how to answer", reply)
        }
    }

    private static func failure(_ text: String, _ reply: HTTPConnection.Reply?) -> Server.Failure {
        let said = reply.map { "\($0.status) \(String(decoding: $0.body.prefix(300), as: UTF8.self))" } ?? "no answer"
        return Server.Failure(description: "\(text): \(said)")
    }
}

extension Bench {
    var clock: BenchClock { BenchClock(port: place.port, adminKey: adminKey) }
    var beginning: RenewalBeginning { RenewalBeginning(port: place.port, adminKey: adminKey) }
}
