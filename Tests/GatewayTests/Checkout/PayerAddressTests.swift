import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

/// Where the payer is, for payment services that compare it: told the same each time, kept no longer than needed.
@Suite("The payer's address")
struct PayerAddressTests {
    private static let home = "93.184.216.34"

    private static func ask(_ address: String?) -> CheckoutRequest {
        CheckoutRequest(
            sku: "vip_month", platform: .web, currency: GatewayFixture.money(0).currency, provider: "scripted",
            payerAddress: address.flatMap { IPAddress($0) })
    }

    private static func checkout(
        _ desk: GatewayFixture, from address: String? = home, context: CallContext = .test
    ) async throws -> PaymentContract {
        desk.clock.tick()
        return try await desk.gateway.cashier.open(ask(address), user: GatewayFixture.user("alice"), context: context)
    }

    private static func kept(_ desk: GatewayFixture) async throws -> Int64 {
        try await desk.count("payments WHERE payer_address IS NOT NULL")
    }

    @Test(arguments: TestEngine.allCases)
    func `the provider is told, and nothing is kept`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            _ = try await Self.checkout(desk)
            _ = try await Self.checkout(desk, from: nil)
            #expect(desk.scripted.attempts.map(\.payerAddress) == [Self.home, nil])
            #expect(try await Self.kept(desk) == 0)
            #expect(try await desk.places(of: Self.home) == [])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a repetition tells the first address, which was kept sealed`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.scripted.openings(.unavailable)
            let run = try await desk.run("key")
            await #expect(throws: GatewayError.providerUnavailable) { try await Self.checkout(desk, context: run) }
            #expect(try await Self.kept(desk) == 1)
            #expect(try await desk.places(of: Self.home) == [])
            desk.scripted.openings(nil)
            try await desk.crash()
            _ = try await Self.checkout(desk, from: "203.0.113.77", context: try await desk.run("key"))
            #expect(desk.scripted.attempts.map(\.payerAddress) == [Self.home, Self.home])
            #expect(Set(desk.scripted.opened).count == 1)
            #expect(try await Self.kept(desk) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `another attempt tells where the payer is now`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await Self.checkout(desk)
            desk.clock.tick()
            let request = RetryRequest(
                platform: .web, currency: nil, provider: "scripted", accept: ContractType.base, returnURL: nil,
                payerAddress: IPAddress("203.0.113.77"))
            _ = try await desk.gateway.cashier.retry(
                contract.order.rawValue, request, user: GatewayFixture.user("alice"), context: .test)
            #expect(desk.scripted.attempts.map(\.payerAddress) == [Self.home, "203.0.113.77"])
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it goes with the end of a payment that was never opened`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { (desk) async throws in
            desk.scripted.openings(.rejected(reason: "no"))
            await #expect(throws: GatewayError.providerRejected(reason: "no")) { try await Self.checkout(desk) }
            #expect(desk.scripted.attempts.map(\.payerAddress) == [Self.home])
            #expect(try await Self.kept(desk) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it goes with the end of its order`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.scripted.openings(.unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { try await Self.checkout(desk) }
            #expect(try await Self.kept(desk) == 1)
            try await desk.pass(seconds: 3_600)
            try await desk.work()
            #expect(try await desk.order(try await desk.onlyOrder()).status == .closed)
            #expect(try await Self.kept(desk) == 0)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it goes with its user`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            desk.scripted.openings(.unavailable)
            await #expect(throws: GatewayError.providerUnavailable) { try await Self.checkout(desk) }
            #expect(try await Self.kept(desk) == 1)
            _ = try await desk.gateway.users.erase(GatewayFixture.user("alice"), context: .test)
            #expect(try await Self.kept(desk) == 0)
        }
    }
}
