import Domain
import Foundation
import Gateway
import Store

/// Reads `paydesk.yaml`; the secrets that development makes (keys, the user secret) are left empty here.
enum PaydeskFile {
    static let name = "paydesk.yaml"
    private static let keys = [
        "mode", "http", "database", "secrets", "auth", "default_currency", "orders", "purchases", "webhooks", "limits",
        "retention", "meters", "pages", "snapshots", "billing", "development", "allow_test_accounts",
    ]

    /// - Parameter file: the name of the text in faults.
    /// - Returns: nil after a fault in a value that has no default; other faults are only recorded.
    static func read(
        _ node: YAMLNode, file: String, _ reading: ConfigurationReading, _ overrides: ConfigurationOverrides
    ) -> Configuration? {
        let root = ValueReader(node: node, place: ConfigPath(file: file), reading: reading).mapping(keys: keys)
        let mode = mode(root)
        reading.isDevelopment = mode != .production
        let allowsTestAccounts = root.boolean("allow_test_accounts", default: false)
        reading.takesTestAccounts = allowsTestAccounts || reading.isDevelopment
        let http = HTTPSection.read(root, overrides)
        let auth = AuthSection.read(root, http)
        let url = databaseURL(root)
        let secretKeys = secretKeys(root)
        let orders = orders(root)
        let purchases = purchases(root)
        let webhooks = webhooks(root)
        let limits = limits(root)
        let retention = retention(root)
        let meters = MeterSection.read(root)
        let pages = PagesSection.read(root)
        let snapshots = snapshots(root)
        let billing = billing(root)
        let development = development(root)
        guard let currency = currency(root), let mode else { return nil }
        return Configuration(
            folder: reading.folder, mode: mode, http: http, databaseURL: url, secretKeys: secretKeys, auth: auth,
            defaultCurrency: currency, orders: orders, purchases: purchases, webhooks: webhooks, limits: limits,
            retention: retention, meters: meters, pages: pages, snapshots: snapshots, billing: billing,
            development: development, allowsTestAccounts: allowsTestAccounts, accounts: [], catalogue: [])
    }

    /// Reads the mode.
    ///
    /// It has no default, because a forgotten mode must not become the unprotected one.
    private static func mode(_ root: MappingReader) -> Configuration.Mode? {
        guard let value = root["mode"] else {
            root.fault("mode", "is missing", "write mode: development or mode: production")
            return nil
        }
        let before = root.reading.faults.count
        let mode = value.choice(Configuration.Mode.allCases.map(\.rawValue)).flatMap(Configuration.Mode.init(rawValue:))
        if mode == nil, root.reading.faults.count == before {
            root.fault("mode", "is empty", "write mode: development or mode: production")
        }
        return mode
    }

    private static func currency(_ root: MappingReader) -> Currency? {
        let text = root.text("default_currency")
        guard let currency = Currency(text.isEmpty ? "CNY" : text) else {
            root.fault("default_currency", "is not an ISO 4217 currency", "write three capitals such as CNY")
            return nil
        }
        return currency
    }

    private static func databaseURL(_ root: MappingReader) -> String {
        let database = root.section("database", keys: ["url"])
        guard database["url"] != nil else { return "sqlite:var/paydesk.db" }
        let remedy = "write sqlite:var/paydesk.db or postgres://user@host/name"
        guard let text = database.requiredText("url", remedy) else { return "" }
        do throws(DatabaseURLError) { _ = try DatabaseURL(text) } catch {
            database.fault("url", "is no database: \(error)", remedy)
        }
        return text
    }

    private static func secretKeys(_ root: MappingReader) -> [Data] {
        let section = root.section("secrets", keys: ["keys"])
        let remedy = "make one: openssl rand -base64 32"
        let elements = section.elements("keys")
        if elements.isEmpty, !section.reading.isDevelopment {
            section.fault("keys", "is empty", "set PAYDESK_SECRET_KEY to a key of 32 bytes in base64; \(remedy)")
        }
        return elements.compactMap { element in
            guard let text = element.secret() else { return nil }
            guard let key = Data(base64Encoded: text), key.count == 32 else {
                element.fault("is not the base64 of 32 bytes", remedy)
                return nil
            }
            return key
        }
    }

    private static func orders(_ root: MappingReader) -> OrderPolicies {
        let orders = root.section("orders", keys: ["expire_after_minutes", "late_payment", "duplicate_payment"])
        return OrderPolicies(
            latePayment: orders.choice("late_payment", default: .fulfil),
            duplicatePayment: orders.choice("duplicate_payment", default: .refund),
            expireAfterMinutes: orders.integer("expire_after_minutes", in: 1...43_200, default: 30))
    }

    private static func purchases(_ root: MappingReader) -> Configuration.Purchases {
        let purchases = root.section("purchases", keys: ["ownership", "share_limit", "transfer_cooldown_days"])
        return Configuration.Purchases(
            ownership: purchases.choice("ownership", default: .keep),
            shareLimit: purchases.integer("share_limit", in: 1...1_000, default: 5),
            transferCooldownDays: purchases.integer("transfer_cooldown_days", in: 0...3_650, default: 5))
    }

    private static func webhooks(_ root: MappingReader) -> Configuration.Webhooks {
        let webhooks = root.section("webhooks", keys: ["allow_private_networks"])
        let allows = webhooks.boolean("allow_private_networks", default: false)
        if allows, !webhooks.reading.isDevelopment {
            webhooks.fault("allow_private_networks", "is for development only", "write false")
        }
        return Configuration.Webhooks(allowPrivateNetworks: allows)
    }

    private static func limits(_ root: MappingReader) -> Configuration.Limits {
        let keys = [
            "user_per_second", "user_burst", "key_per_second", "key_burst", "sessions_per_minute", "concurrent",
            "pages_per_second", "pages_burst", "streams",
        ]
        let limits = root.section("limits", keys: keys)
        func limit(_ key: String, _ value: Int64) -> Int64 { limits.integer(key, in: 0...1_000_000, default: value) }
        return Configuration.Limits(
            userPerSecond: limit("user_per_second", 50), userBurst: limit("user_burst", 300),
            keyPerSecond: limit("key_per_second", 200), keyBurst: limit("key_burst", 1_000),
            sessionsPerMinute: limit("sessions_per_minute", 30), concurrent: limit("concurrent", 512),
            pagesPerSecond: limit("pages_per_second", 10), pagesBurst: limit("pages_burst", 60),
            streams: limit("streams", Configuration.Limits.defaultStreams))
    }

    private static func snapshots(_ root: MappingReader) -> SnapshotLife {
        let snapshots = root.section("snapshots", keys: ["lifetime_hours", "grace_hours"])
        return SnapshotLife(
            lifetimeHours: snapshots.integer("lifetime_hours", in: 1...8_760, default: 72),
            graceHours: snapshots.integer("grace_hours", in: 0...8_760, default: 24))
    }

    private static func billing(_ root: MappingReader) -> BillingSettings {
        let billing = root.section(
            "billing", keys: ["retry_days", "upcoming_days", "notice_days", "overlap", "per_second"])
        var settings = BillingSettings()
        if billing["retry_days"] != nil {
            let days = billing.elements("retry_days").compactMap { $0.integer(in: 1...28) }
            let isAscending = zip(days, days.dropFirst()).allSatisfy { $0 < $1 }
            if days.count > 8 || !isAscending {
                billing.fault(
                    "retry_days", "is no list of at most 8 ascending days",
                    "write offsets from the first refusal: [1, 3, 5, 7]")
            }
            settings.retryDays = days
        }
        settings.upcomingDays = billing.integer("upcoming_days", in: 0...90, default: settings.upcomingDays)
        settings.noticeDays = billing.integer("notice_days", in: 0...365, default: settings.noticeDays)
        settings.overlap = billing.choice("overlap", default: settings.overlap)
        settings.perSecond = billing.integer("per_second", in: 1...10_000, default: settings.perSecond)
        return settings
    }

    private static func retention(_ root: MappingReader) -> Configuration.Retention {
        let retention = root.section("retention", keys: ["raw_days", "idempotency_days"])
        return Configuration.Retention(
            rawDays: retention.integer("raw_days", in: 1...3_650, default: 90),
            idempotencyDays: retention.integer("idempotency_days", in: 1...365, default: 30))
    }

    private static func development(_ root: MappingReader) -> Configuration.Development {
        let development = root.section("development", keys: ["appstore", "appstore_file"])
        let runsAppStore = development.boolean("appstore", default: false)
        if runsAppStore, !development.reading.isDevelopment {
            development.fault(
                "appstore", "runs an App Store that sells for nothing, which production refuses", "write false")
        }
        let file = runsAppStore ? development["appstore_file"]?.path() : nil
        return Configuration.Development(appStore: runsAppStore, appStoreFile: file)
    }
}
