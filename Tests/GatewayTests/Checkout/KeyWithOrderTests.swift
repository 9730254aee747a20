import Foundation
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// Tests of keys that are claimed in the transaction of the order and answered in that of the contract.
@Suite("A key that is claimed with its order")
struct KeyWithOrderTests {
    private static func begin(_ desk: GatewayFixture, user: String = "alice") async throws -> IdempotentStart {
        try await desk.gateway.idempotency.begin(
            key: "key", caller: .user(GatewayFixture.user(user)), request: [Data("the same".utf8)],
            claim: .withObject, storesContract: true)
    }

    private static func expect(_ start: IdempotentStart, _ status: Int, _ answer: Data) {
        guard case .replay(let stored, let text) = start else {
            Issue.record("the answer is not stored")
            return
        }
        #expect(stored == status)
        #expect(text == answer)
    }

    @Test(arguments: TestEngine.allCases)
    func `its answer is stored together with the contract`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let call = try await desk.run("key", isCheckout: true)
            #expect(try await desk.count("idempotency_keys") == 0)
            let contract = try await desk.checkout(context: call)
            #expect(call.idempotency?.progress.isAnswered == true)
            // As after a process that ended before it could answer.
            try await desk.crash()
            Self.expect(try await Self.begin(desk), 200, try JSONText.encoded(contract))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of two runs that begin at once one makes an order, and the other ends nothing`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (first, second) = (
                try await desk.run("key", isCheckout: true), try await desk.run("key", isCheckout: true)
            )
            desk.line.set(.open, .unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { try await desk.checkout(context: first) }
            desk.line.set(.open, nil)
            await #expect(throws: GatewayError.requestInProgress) { try await desk.checkout(context: second) }
            let other = try #require(second.idempotency)
            try await desk.gateway.idempotency.release(other)
            try await desk.gateway.idempotency.finish(other, status: 409, answer: Data("{}".utf8))
            // The first still holds the key.
            await #expect(throws: GatewayError.requestInProgress) { try await Self.begin(desk) }
            try await desk.gateway.idempotency.release(try #require(first.idempotency))
            _ = try await desk.checkout(context: try await desk.run("key", isCheckout: true))
            #expect(try await desk.count("orders") == 1)
            #expect(try await desk.count("payments") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refusal before the order is stored, also for a user who is new`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let call = try await desk.run("key", user: "newcomer", isCheckout: true)
            await #expect(throws: GatewayError.skuNotFound("none")) {
                try await desk.checkout("none", user: "newcomer", context: call)
            }
            let run = try #require(call.idempotency)
            try await desk.gateway.idempotency.finish(run, status: 404, answer: Data("refused".utf8))
            Self.expect(try await Self.begin(desk, user: "newcomer"), 404, Data("refused".utf8))
        }
    }

    @Test(arguments: TestEngine.allCases, [FaultInjection.unavailable, .lostReply])
    func `a run that was cut goes on with its order`(_ engine: TestEngine, _ fault: FaultInjection) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, fault)
            await #expect(throws: GatewayError.providerUnavailable) {
                try await desk.checkout(context: try await desk.run("key", isCheckout: true))
            }
            desk.line.set(.open, nil)
            try await desk.crash()
            let contract = try await desk.checkout(context: try await desk.run("key", isCheckout: true))
            #expect(try await desk.count("orders") == 1)
            #expect(try await desk.count("payments WHERE id = ?", contract.payment?.rawValue ?? "") == 1)
            #expect(try await desk.count("account_book") == 1)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an erasure in between leaves neither the answer nor a user`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let call = try await desk.run("key", isCheckout: true)
            let contract = try await desk.checkout(context: call)
            let admin = CallContext(actor: .system("admin"), requestID: "req_erase")
            _ = try await desk.gateway.users.erase(GatewayFixture.user("alice"), context: admin)
            try await desk.gateway.idempotency.finish(
                try #require(call.idempotency), status: 200, answer: try JSONText.encoded(contract))
            #expect(try await desk.count("users WHERE external_id = 'alice'") == 0)
            #expect(try await desk.count("idempotency_keys WHERE status IS NULL OR length(answer) > 0") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a repetition at the same moment is not told that its twin's purchase is owned`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let (first, second) = (
                try await desk.run("key", isCheckout: true), try await desk.run("key", isCheckout: true)
            )
            let contract = try await desk.checkout("trial", context: first)
            #expect(contract.status == .succeeded)
            await #expect(throws: GatewayError.requestInProgress) {
                try await desk.checkout("trial", context: second)
            }
            await #expect(throws: GatewayError.alreadyOwned) { try await desk.checkout("trial") }
        }
    }

    @Test(arguments: TestEngine.allCases, [true, false])
    func `a refusal after an erasure stores the user not again`(_ engine: TestEngine, _ isFinal: Bool) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await desk.checkout()
            let call = try await desk.run("key", isCheckout: true)
            let admin = CallContext(actor: .system("admin"), requestID: "req_erase")
            _ = try await desk.gateway.users.erase(GatewayFixture.user("alice"), context: admin)
            let run = try #require(call.idempotency)
            if isFinal {
                try await desk.gateway.idempotency.finish(run, status: 404, answer: Data("refused".utf8))
            } else {
                try await desk.gateway.idempotency.release(run)
            }
            #expect(try await desk.count("users WHERE external_id = 'alice'") == 0)
            #expect(try await desk.count("idempotency_keys") == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a run that goes on at another account takes an answer back of which it did not hear`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            let call = try await desk.run("key", isCheckout: true)
            let contract = try await desk.checkout(context: call)
            let now = desk.clock.now
            try await desk.store.write { tx in try tx.rebind(call, to: contract.order.rawValue, at: now) }
            await #expect(throws: GatewayError.requestInProgress) { try await Self.begin(desk) }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an answer is sealed again with a new key`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.checkout(context: try await desk.run("key", isCheckout: true))
            let (old, new) = (Data(repeating: 7, count: 32), Data(repeating: 8, count: 32))
            let (secrets, requests) = (desk.gateway.secrets, desk.gateway.idempotency)
            // Sealed as an earlier release did, for the client's key.
            let earlier = try desk.keyRing.seal(Data("an answer".utf8), context: "idempotency_keys/partner/acme/theirs")
            try await desk.store.write { tx in
                try tx.idempotencyKeys.insertFinished(
                    "theirs", caller: "partner/acme", fingerprint: Data(), epoch: 1, status: 200, answer: earlier,
                    at: Timestamp(1))
            }
            let resealed = try await SealedSecrets(
                store: secrets.store, keyRing: try KeyRing(keys: [new, old]), logger: secrets.logger
            ).reseal()
            #expect(resealed.closed == 0)
            let start = try await IdempotentRequests(
                store: requests.store, keyRing: try KeyRing(keys: [new]), ids: requests.ids, random: requests.random,
                time: requests.time
            ).begin(key: "key", caller: .user(GatewayFixture.user("alice")), request: [Data("the same".utf8)])
            Self.expect(start, 200, try JSONText.encoded(contract))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a failover keeps the key and answers with the second account's contract`(
        _ engine: TestEngine
    ) async throws {
        try await withDesk(on: engine) { desk in
            desk.line.set(.open, .lostReply, at: "box-url")
            let call = try await desk.run("key", isCheckout: true)
            let contract = try await desk.checkout(provider: nil, context: call)
            #expect(contract.provider?.rawValue == "box-qr")
            #expect(call.idempotency?.progress.isAnswered == true)
            Self.expect(try await Self.begin(desk), 200, try JSONText.encoded(contract))
        }
    }
}
