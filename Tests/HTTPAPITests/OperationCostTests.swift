import Domain
import Foundation
import Gateway
import Store
import TestSupport
import Testing

/// Compares the costs of the calls that come most often with `Benchmarks/COSTS.md`, so that a statement more is seen.
@Suite(.serialized)
struct OperationCostTests {
    private static let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Benchmarks/COSTS.md")

    /// An operation with its costs, as a line of the table.
    private struct Line: Equatable {
        let name: String
        let costs: StatementCosts
        let commits: Int64

        var text: String {
            let numbers = [costs.statements, costs.writes, costs.entries, costs.temporaryTrees, Int(commits)]
            return "| \(name) | \(numbers.map { $0.map(String.init) ?? "–" }.joined(separator: " | ")) |"
        }
    }

    private static func table(_ lines: [Line], _ engine: TestEngine) -> String {
        ([
            "| \(engine) | statements | of them writes | entries | b-trees in memory | commits |",
            "|---|---|---|---|---|---|",
        ] + lines.map(\.text)).joined(separator: "\n")
    }

    @Test(arguments: TestEngine.allCases)
    func `an operation costs what COSTS says; make costs writes it`(_ engine: TestEngine) async throws {
        try await withPurchaseCounter(on: engine) { counter, apple in
            try Self.compare(try await Self.lines(counter, apple, engine), engine)
        }
    }

    private static func compare(_ lines: [Line], _ engine: TestEngine) throws {
        let table = Self.table(lines, engine)
        var text = try String(contentsOf: Self.file, encoding: .utf8)
        let (begin, end) = ("<!-- \(engine) -->\n", "\n<!-- end of \(engine) -->")
        let from = try #require(text.range(of: begin)?.upperBound)
        let to = try #require(text.range(of: end)?.lowerBound)
        guard ProcessInfo.processInfo.environment["PAYDESK_WRITE_COSTS"] == "true" else {
            #expect(text[from..<to] == table, "the costs are now:\n\(table)")
            return
        }
        text.replaceSubrange(from..<to, with: table)
        try text.write(to: Self.file, atomically: true, encoding: .utf8)
    }

    private static func lines(
        _ counter: Counter, _ apple: AppStoreGatewayFixture, _ engine: TestEngine
    ) async throws -> [Line] {
        let desk = counter.desk
        let bearer = try await counter.token()
        var lines: [Line] = []
        func measure(_ name: String, _ call: () async throws -> Reply) async throws {
            await apple.gateway.calls.untilIdle()
            _ = desk.watch.taken()
            let before = desk.store.engine.commits
            desk.clock.tick()
            #expect(try await call().status == 200, "\(name)")
            await apple.gateway.calls.untilIdle()
            let commits = desk.store.engine.commits - before
            let costs = try await StatementCosts(desk.watch.taken(), on: engine, desk.store)
            lines.append(Line(name: name, costs: costs, commits: commits))
        }
        let sales = [apple.sale(), apple.sale()]
        try await measure("attach, of a new user") {
            try await counter.post(PurchasePath.attach, bearer, sales[0].body())
        }
        try await measure("attach, of a known user") {
            try await counter.post(PurchasePath.attach, bearer, sales[1].body())
        }
        try await measure("attach, repeated") { try await counter.post(PurchasePath.attach, bearer, sales[1].body()) }
        try await measure("status") { try await counter.get(PurchasePath.status, bearer) }
        try await measure("entitlements") { try await counter.get("/v1/public/entitlements", bearer) }
        func checkout(_ headers: [String: String] = [:]) async throws -> Reply {
            try await counter.post(
                "/v1/public/checkout", bearer, Counter.ask(#","provider":"box-url""#), headers: headers)
        }
        try await measure("checkout") { try await checkout() }
        try await measure("checkout, with an Idempotency-Key") { try await checkout(["Idempotency-Key": "cost-1"]) }
        let contract = try await counter.checkout(bearer, #","provider":"box-url""#)
        try await measure("notification that pays") { try await counter.notify("payment.succeeded", contract) }
        try await measure("notification, repeated") { try await counter.notify("payment.succeeded", contract) }
        return lines
    }
}
