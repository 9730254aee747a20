import Logging
import ProviderKit
import Store
import Synchronization
import TestSupport
import Testing

@testable import Domain
@testable import Gateway

@Suite("Stored routing that cannot be read")
struct AccountOverrideTests {
    private final class Lines: Sendable {
        let warnings = Mutex<[String]>([])
    }

    private struct Handler: LogHandler {
        let lines: Lines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.MetadataValue? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            guard event.level == .warning else { return }
            lines.warnings.withLock { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `it is told once, and the file counts`(_ engine: TestEngine) async throws {
        let lines = Lines()
        var setup = DeskSetup()
        setup.logger = Logger(label: "desk") { _ in Handler(lines: lines) }
        try await withDesk(on: engine, setup) { desk in
            func unreadable() async throws -> [String] {
                try await desk.gateway.listAccounts().filter(\.hasUnreadableRouting).map(\.account.id.rawValue)
            }
            let change = AccountChange(enabled: true, routing: .object(["priority": .integer(77)]), reset: false)
            for account in ["box-url", "box-qr"] {
                _ = try await desk.gateway.changeAccount(account, change, context: .test)
            }
            try await desk.gateway.warnOfUnreadableRouting()
            #expect(try await unreadable() == [] && lines.warnings.withLock { $0 }.isEmpty)
            try await desk.store.write { tx in
                try tx.run(
                    "UPDATE account_overrides SET routing = '{\"priority\":\"first\"}' WHERE account = 'box-url'")
            }
            #expect(try await unreadable() == ["box-url"])
            try await desk.gateway.warnOfUnreadableRouting()
            let told = lines.warnings.withLock { $0 }
            #expect(told.count == 1 && told.allSatisfy { $0.contains("box-url") })
            let priority = try await desk.gateway.listAccounts().first { $0.account.id.rawValue == "box-url" }
            #expect(priority?.account.routing.priority == 50 && priority?.isOverridden == true)
            _ = try await desk.gateway.changeAccount("box-url", AccountChange(reset: true), context: .test)
            #expect(try await unreadable() == [])
        }
    }
}
