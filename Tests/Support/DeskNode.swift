package import Domain
import Foundation
package import Gateway
package import ProviderKit
package import Store

// Further nodes at the same desk, and direct access to its database.
extension GatewayFixture {
    /// This desk's gateway with another store, retention, account or pause.
    package func node(
        store: Store? = nil, retention: RetentionPolicy? = nil, replacing account: ConfiguredAccount? = nil,
        box: BoxSettings? = nil,
        pause: @escaping @Sendable (Duration) async -> Void = Pauses.forever
    ) -> Gateway {
        var settings = gateway.settings
        if let retention { settings.retention = retention }
        let accounts = gateway.registry.accounts.map { $0.id == account?.id ? account ?? $0 : $0 }
        return gateway(store: store, accounts: accounts, settings: settings, box: box, pause: pause)
    }

    /// This desk's gateway with accounts of providers that the desk does not have.
    package func gateway(with further: [ConfiguredAccount]) -> Gateway {
        gateway(accounts: gateway.registry.accounts + further)
    }

    /// An account of such a provider, with the first priority on the web.
    ///
    /// - Parameters:
    ///   - http: reaches the provider's service or a replacement of it.
    ///   - isTest: true for an account in its provider's test mode.
    ///   - platforms: the platforms that it is routed for.
    package func account<Provider: PaymentProvider>(
        _ name: String, http: any HTTPTransport, isTest: Bool = false, platforms: [Platform] = [.web],
        _ make: (ProviderContext) throws -> Provider
    ) throws -> ConfiguredAccount {
        let id = try AccountID.test(name)
        let token = Self.notifyToken(name)
        let context = ProviderContext(
            http: http, time: gateway.time.real, businessTime: gateway.time, random: gateway.random,
            book: StoredBook(store: store, account: id),
            notifyURL: "\(Self.publicURL)/v1/notify/\(token)", publicURL: Self.publicURL)
        return ConfiguredAccount(
            id: id, provider: try make(context), isTest: isTest, enabled: true,
            routing: AccountRouting(platforms: platforms, priority: 1), notifyToken: token)
    }

    private func gateway(
        store: Store? = nil, accounts: [ConfiguredAccount], settings: GatewaySettings? = nil, box: BoxSettings? = nil,
        pause: @escaping @Sendable (Duration) async -> Void = Pauses.forever
    ) -> Gateway {
        let base = gateway
        return Gateway(
            store: store ?? base.store,
            registry: ProviderRegistry(
                kinds: Array(base.registry.kinds.values) + accounts.map { type(of: $0.provider) }, accounts: accounts),
            keyRing: base.keyRing, clock: base.clock, random: base.random, calls: base.calls,
            webhooks: base.webhookTransport,
            settings: settings ?? base.settings, logger: base.logger, box: box, pause: pause)
    }

    /// A sandbox account with a wrong secret, as after an operator's mistake.
    package func mistaken(_ name: String = "box-url", secret: String) throws -> ConfiguredAccount {
        let id = try AccountID.test(name)
        let context = ProviderContext(
            http: transport, time: clock.time, random: gateway.random, book: StoredBook(store: store, account: id),
            notifyURL: "", publicURL: Self.publicURL)
        let settings = ProviderSettings(["contract": .text("url"), "secret": .text(secret)])
        return ConfiguredAccount(
            id: id,
            provider: try FaultySandbox(
                account: ProviderAccount(id: id, settings: settings, isDevelopment: true), context: context, line: line),
            isTest: true, enabled: true, routing: AccountRouting(platforms: [.web], priority: 50),
            notifyToken: Self.notifyToken(name)
        )
    }

    /// Sets the offset of business time in the database, and lets this node read it.
    package func setOffset(_ seconds: Int64) async throws {
        try await store.write { tx in
            try tx.execute("UPDATE clock SET offset_seconds = ?, version = version + 1", seconds)
        }
        try await gateway.clock.read(from: store)
    }

    /// The present time of the database in seconds since 1970: its own time on PostgreSQL, the node's on SQLite.
    package func databaseTime() async throws -> Int64 {
        engine == .sqlite ? clock.now.rawValue : try await store.engine.databaseTime()
    }

    /// Removes the database's guards from the audit, as only the database's owner can.
    package func unlockAudit() async throws {
        let statements =
            switch engine {
            case .sqlite:
                [
                    "audit_keeps_entries", "audit_loses_nothing", "audit_seals_stay", "audit_seals_lose_nothing",
                ].map { "DROP TRIGGER \($0)" }
            case .postgres: ["audit", "audit_seals"].map { "ALTER TABLE \($0) DISABLE TRIGGER USER" }
            }
        try await store.write { tx in
            for statement in statements { try tx.execute(statement) }
        }
    }

    /// Every `table.column` with a value that contains this text, as text or as bytes.
    package func places(of text: String) async throws -> [String] {
        let engine = engine
        return try await store.read { db in
            var places: [String] = []
            for (table, column) in try Self.columns(db, engine) {
                let found = try db.rows("SELECT \"\(column)\" AS value FROM \"\(table)\"").contains { row in
                    switch row["value"] {
                    case .text(let value): value.contains(text)
                    case .blob(let value): value.range(of: Data(text.utf8)) != nil
                    case .integer(let value): String(value) == text
                    case .null: false
                    }
                }
                if found { places.append("\(table).\(column)") }
            }
            return places
        }
    }

    private static func columns(_ db: any Database, _ engine: TestEngine) throws -> [(String, String)] {
        let sql =
            switch engine {
            case .sqlite:
                """
                SELECT m.name AS table_name, c.name AS column_name FROM sqlite_master m, pragma_table_info(m.name) c
                WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%'
                """
            case .postgres:
                """
                SELECT table_name::text AS table_name, column_name::text AS column_name
                FROM information_schema.columns WHERE table_schema = current_schema()
                """
            }
        return try db.rows(sql).map { (try $0.text("table_name"), try $0.text("column_name")) }
    }
}
