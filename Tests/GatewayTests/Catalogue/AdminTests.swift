import Foundation
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Catalogue, keys and audit")
struct AdminTests {
    private static func sku(_ json: String) throws -> SKU { try JSONDecoder().decode(SKU.self, from: Data(json.utf8)) }

    private static func named(_ id: String, products: String = "[]") throws -> SKU {
        try sku(
            """
            {"id": "\(id)", "name": "N", "kind": "non_renewing", "duration_days": 5,
             "prices": [{"currency": "CNY", "value": 100}], "apple_product_ids": \(products)}
            """)
    }

    @Test(arguments: TestEngine.allCases)
    func `an Apple product id belongs to one active SKU`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gateway = desk.gateway
            func owner() async throws -> String? {
                try await desk.store.read { db in
                    try db.row("SELECT sku FROM apple_products WHERE entry = ?", "com.example.vip.month")?.text("sku")
                }
            }
            let draft = try Self.named("rival", products: #"["com.example.vip.month"]"#)
            let clash = await #expect(throws: GatewayError.self) {
                try await gateway.catalogue.create(draft, context: .test)
            }
            guard case .conflict = clash else {
                Issue.record("a clash is \(String(describing: clash))")
                return
            }
            await #expect(throws: GatewayError.skuNotFound("rival")) { try await gateway.catalogue.find("rival") }
            _ = try await gateway.catalogue.archive("vip_month", context: .test)
            #expect(try await owner() == "vip_month")
            let made = try await gateway.catalogue.create(draft, context: .test)
            #expect(made.number == 10)
            #expect(try await owner() == "rival")
            let revived = await #expect(throws: GatewayError.self) {
                try await gateway.catalogue.change("vip_month", .object(["active": .bool(true)]), context: .test)
            }
            guard case .conflict = revived else {
                Issue.record("a revival is \(String(describing: revived))")
                return
            }
            #expect(try await gateway.catalogue.find("vip_month").active == false)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a patch changes what it names and null goes back to the default`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let before = try await desk.gateway.catalogue.find("vip_kept")
            let after = try await desk.gateway.catalogue.change(
                "vip_kept", .object(["name": .string("Kept"), "on_refund": .null]), context: .test)
            #expect(after.name == "Kept")
            #expect(after.onRefund == .revoke)
            #expect(after.number == before.number)
            #expect(after.prices == before.prices)
            #expect(try await desk.gateway.catalogue.find("vip_kept") == after)
            let cases: [(JSONValue, String)] = [
                (.object(["id": .string("other")]), "id"), (.object(["rank": .string("high")]), "rank"),
                (.object(["kind": .null]), "kind"), (.object(["prices": .array([])]), "prices"),
            ]
            for (patch, field) in cases {
                let error = await #expect(throws: GatewayError.self) {
                    try await desk.gateway.catalogue.change("vip_kept", patch, context: .test)
                }
                #expect(error?.withoutReason == .invalidRequest(field: field, reason: ""))
            }
            #expect(try await desk.gateway.catalogue.find("vip_kept") == after)
            let twice = await #expect(throws: GatewayError.self) {
                try await desk.gateway.catalogue.create(try Self.named("vip_kept"), context: .test)
            }
            #expect(twice == .conflict(reason: "the SKU vip_kept exists", resource: "vip_kept"))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `an import merges and a second one changes nothing`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gateway = desk.gateway
            #expect(
                try await gateway.catalogue.merge(try FixtureCatalogue.skus(), context: .test)
                    == CatalogueImport(added: 0, changed: 0))
            var skus = try FixtureCatalogue.skus()
            skus[0].name = "Renamed"
            let more = try Self.named("more")
            #expect(
                try await gateway.catalogue.merge([skus[0], more], context: .test)
                    == CatalogueImport(added: 1, changed: 1))
            let exported = try await gateway.catalogue.all()
            #expect(exported.count == 10)
            #expect(exported.map(\.number) == Array(1...10))
            #expect(
                try await gateway.catalogue.merge(exported, context: .test) == CatalogueImport(added: 0, changed: 0))
            let first = try await gateway.catalogue.list(cursor: nil, limit: 7)
            let second = try await gateway.catalogue.list(cursor: first.nextCursor, limit: 7)
            #expect((first.items + second.items).map(\.number) == Array((1...10).reversed()))
            #expect(second.nextCursor == nil)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `of a key only the hash is kept`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let gateway = desk.gateway
            let issued = try await gateway.keys.create(
                name: "ops", partner: nil, scopes: ["orders:read"], context: .test)
            let known = try await gateway.keys.authenticate(key: issued.key)
            #expect(known.allows(.ordersRead) && !known.allows(.admin) && !known.allows(.adminRead))
            let secret = try #require(issued.key.split(separator: "_", maxSplits: 2).last)
            #expect(secret.utf8.count == 43)
            if case .sqlite(let path) = desk.database.url {
                for file in [path, path + "-wal"] where FileManager.default.fileExists(atPath: file) {
                    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
                    #expect(bytes.range(of: Data(secret.utf8)) == nil)
                }
            }
            for (wrong, fault) in [
                ("", InvalidCredential.noKey), ("pdk_", .noKey), (issued.key + "x", .unknownKey),
                (String(issued.key.dropLast()) + "!", .unknownKey), ("pdk_a_b", .noKey), (secret.uppercased(), .noKey),
            ] {
                await #expect(throws: GatewayError.invalidCredential(fault)) {
                    try await gateway.keys.authenticate(key: wrong)
                }
            }
            try await gateway.keys.revoke(issued.id.rawValue, context: .test)
            await #expect(throws: GatewayError.invalidCredential(.unknownKey)) {
                try await gateway.keys.authenticate(key: issued.key)
            }
            await expectNotFound {
                try await gateway.keys.revoke(issued.id.rawValue, context: .test)
            }
            for scopes in [[], ["root"], ["admin", "root"]] {
                let error = await #expect(throws: GatewayError.self) {
                    try await gateway.keys.create(name: "bad", partner: nil, scopes: scopes, context: .test)
                }
                #expect(error?.withoutReason == .invalidRequest(field: "scopes", reason: ""))
            }
            #expect(try await gateway.keys.hasAdminKey() == false)
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `the audit tells who did what, newest first`(_ engine: TestEngine) async throws {
        try await withDesk(on: engine) { desk in
            let contract = try await desk.buy()
            desk.clock.advance(seconds: 1)
            let actor = Actor.system("command line")
            try await desk.refund(contract.order, context: CallContext(actor: actor, requestID: "req_refund"))
            let entries = try await desk.gateway.auditLog.list(
                subject: contract.order.rawValue, user: nil, cursor: nil, limit: 50)
            #expect(
                entries.items.map(\.action) == [
                    "refund.succeeded", "refund.created", "order.paid", "payment.succeeded", "payment.pending",
                    "order.opened",
                ])
            #expect(entries.items.first?.actor == "system:command line")
            #expect(entries.items.first?.request_id == "req_refund")
            #expect(entries.items.last?.actor == "user")
            var walked: [Int64] = []
            var cursor: String?
            repeat {
                let page = try await desk.gateway.auditLog.list(
                    subject: contract.order.rawValue, user: nil, cursor: cursor, limit: 2)
                walked += page.items.map(\.position)
                cursor = page.nextCursor
            } while cursor != nil
            #expect(walked == [6, 5, 4, 3, 2, 1])
        }
    }
}
