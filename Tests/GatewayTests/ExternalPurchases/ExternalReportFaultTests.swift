import Foundation
import ProviderKit
import ProviderTesting
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Reports to Apple under faults")
struct ExternalReportFaultTests {
    private static let notFound = #"{"errorCode":2,"errorMessage":"Not found.","fieldName":"requestIdentifier"}"#

    @Test(arguments: TestEngine.allCases)
    func `a lost reply is asked about, and nothing is sent twice`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            desk.apple.script(.lost)
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            try await desk.work(for: 5)
            #expect(desk.apple.calls == ["PUT", "GET"] && desk.apple.items.count == 1)
            #expect(try await desk.shown(id).state == "reported")
        }
    }

    @Test(arguments: [
        FakeExternalPurchaseAPI.Fault.answer(503, ""), .answer(500, ""),
        .answer(400, #"{"errorCode":3,"errorMessage":"Duplicate request."}"#), .notSent,
    ])
    func `a report that never arrived is sent again with the same bytes`(
        _ fault: FakeExternalPurchaseAPI.Fault
    ) async throws {
        try await ExternalPurchaseFixture.with(.sqlite) { desk in
            desk.apple.script(fault)
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            try await desk.work(for: 5)
            #expect(desk.apple.calls == ["PUT", "GET", "PUT"] && Set(desk.apple.bodies).count == 1)
            #expect(try await desk.shown(id).state == "reported")
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refused report waits for a person and keeps its identifier`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let faults = #"{"errors":[{"errorCode":9,"errorMessage":"Not valid.","fieldName":"productIdentifier"}]}"#
            desk.apple.script(.answer(400, faults))
            let (id, text) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            try await desk.work(for: 5)
            try await desk.buy(text)
            try await desk.work(for: 5)
            let shown = try await desk.shown(id)
            #expect(shown.state == "refused" && desk.apple.bodies.count == 1)
            #expect(shown.reports.first?.answer?.contains("productIdentifier") == true)
            #expect(try await desk.gateway.externalPurchases.findings().contains { $0.subject.contains(id) })
            _ = try await desk.gateway.externalPurchases.retry(shown.id.rawValue, context: .test)
            try await desk.work(for: 5)
            #expect(desk.apple.items.count == 2)
            let identifiers = try desk.apple.bodies.map {
                try JSONDecoder().decode(ExternalReportBody.self, from: Data($0.utf8)).requestIdentifier
            }
            #expect(identifiers.prefix(2).allSatisfy { $0 == identifiers.first } && Set(identifiers).count == 2)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a refused key stops the account until a retry`(_ engine: TestEngine) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            desk.apple.script(.answer(401, "Unauthenticated"))
            let (first, text) = try ExternalPurchaseFixture.token(at: desk.now)
            let (_, other) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            try await desk.work(for: 5)
            try await desk.buy(other)
            try await desk.work(for: 30)
            #expect(desk.apple.calls == ["PUT"])
            #expect(try await desk.gateway.externalPurchases.findings().contains { $0.words.contains("401") })
            _ = try await desk.gateway.externalPurchases.retry(
                try await desk.shown(first).id.rawValue, context: .test)
            try await desk.work(for: 15)
            #expect(desk.apple.items.count == 2)
        }
    }

    @Test
    func `a rate limit is waited for`() async throws {
        try await ExternalPurchaseFixture.with(.sqlite) { desk in
            desk.apple.script(.answer(429, #"{"errorCode":4290000,"errorMessage":"Rate limit exceeded."}"#))
            let (_, text) = try ExternalPurchaseFixture.token(at: desk.now)
            try await desk.buy(text)
            // Without Retry-After a minute passes, whether or not a node starts meanwhile.
            try await desk.work(for: 30)
            try await desk.gateway.workFinder.prepare()
            try await desk.work(for: 25)
            #expect(desk.apple.calls == ["PUT"])
            try await desk.work(for: 10)
            #expect(desk.apple.items.count == 1)
        }
    }

    @Test(arguments: TestEngine.allCases, [1 as UInt64, 2, 3])
    func `under any mixture of faults each fact is accepted once`(_ engine: TestEngine, _ seed: UInt64) async throws {
        try await ExternalPurchaseFixture.with(engine) { desk in
            let random = SeededRandom(seed).source
            let kinds: [FakeExternalPurchaseAPI.Fault] = [
                .lost, .notSent, .answer(500, ""), .answer(502, ""), .answer(400, Self.notFound),
            ]
            func trouble() { desk.apple.script((0..<3).map { _ in kinds[Int(random.bytes(1)[0]) % kinds.count] }) }
            var contracts: [PaymentContract] = []
            for index in 0..<4 {
                trouble()
                let (_, text) = try ExternalPurchaseFixture.token(at: desk.now)
                contracts.append(try await desk.buy(text, user: "user-\(index)"))
                // Runs end in the middle: the leases are over, and every job begins anew.
                try await desk.work()
                try await desk.desk.crash()
                try await desk.work(for: 4)
            }
            for contract in contracts {
                trouble()
                _ = try await desk.giveBack(contract.order, 1_000)
                try await desk.work(for: 4)
            }
            try await desk.work(for: 30)
            desk.apple.heal()
            try await desk.desk.pass(seconds: 4_000)
            try await desk.work(for: 15)
            #expect(desk.apple.items.count == 8)
            #expect(Set(desk.apple.items.map(\.lineItemId)).count == 8)
            #expect(Set(desk.apple.accepted.map(\.requestIdentifier)).count == 8)
            #expect(try await desk.violations().isEmpty)
        }
    }
}
