import Logging
import ProviderKit
import Store
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Stored routing that cannot be read")
struct AccountOverrideTests {
    @Test(arguments: TestEngine.allCases)
    func `it is told once, and the file counts`(_ engine: TestEngine) async throws {
        let capture = LogCapture()
        var setup = GatewayFixtureSetup()
        setup.logger = capture.logger()
        try await withDesk(on: engine, setup) { desk in
            func unreadable() async throws -> [String] {
                try await desk.gateway.accounts.list().filter(\.hasUnreadableRouting).map(\.account.id.rawValue)
            }
            let change = AccountChange(enabled: true, routing: .object(["priority": .integer(77)]), reset: false)
            for account in ["box-url", "box-qr"] {
                _ = try await desk.gateway.accounts.change(account, change, context: .test)
            }
            try await desk.gateway.accounts.warnOfUnreadableRouting()
            #expect(try await unreadable() == [] && capture.lines(.warning).isEmpty)
            try await desk.store.write { tx in
                try tx.execute(
                    "UPDATE account_overrides SET routing = '{\"priority\":\"first\"}' WHERE account = 'box-url'")
            }
            #expect(try await unreadable() == ["box-url"])
            try await desk.gateway.accounts.warnOfUnreadableRouting()
            let told = capture.lines(.warning)
            #expect(told.count == 1 && told.allSatisfy { $0.contains("box-url") })
            let priority = try await desk.gateway.accounts.list().first { $0.account.id.rawValue == "box-url" }
            #expect(priority?.account.routing.priority == 50 && priority?.isOverridden == true)
            _ = try await desk.gateway.accounts.change("box-url", AccountChange(reset: true), context: .test)
            #expect(try await unreadable() == [])
        }
    }
}
