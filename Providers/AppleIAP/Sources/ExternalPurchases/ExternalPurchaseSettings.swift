import AppleTrust
import Domain
import FoundationEssentials
import ProviderKit

/// The `external_purchases` settings of an account.
enum ExternalPurchaseSettings {
    static let schema = SettingsSchema([
        SettingsSchema.Field(
            "report_after_days", .integer(1...10), default: .integer(8),
            summary: "The days after which a token that led to nothing is reported; Apple reminds after 10."),
        SettingsSchema.Field("production_url", .url, summary: "Another address than Apple's for Production."),
        SettingsSchema.Field("sandbox_url", .url, summary: "Another address than Apple's for Sandbox."),
        SettingsSchema.Field(
            "regions", .list(.object(region)), default: .list([]),
            summary: "The storefronts in which is sold so; empty: in none."),
    ])

    private static let region = SettingsSchema([
        SettingsSchema.Field("storefront", .text, required: true, summary: "The storefront, ISO 3166 alpha-3: DEU."),
        SettingsSchema.Field("from", .text, required: true, summary: "The first day in UTC: 2026-01-01."),
        SettingsSchema.Field(
            "tax", .map(.integer(0...10_000)), default: .object([:]),
            summary: "The rate of tax in hundredths of a percent, by a SKU's tax_category: standard: 1900."),
    ])

    /// Reads the regions; a fault names the entry.
    static func read(_ reader: ProviderSettingsReader) -> ExternalRegions {
        let settings = reader.settings.object("external_purchases")
        var regions: [ExternalRegion] = []
        for (index, entry) in settings.objects("regions").enumerated() {
            let path = "external_purchases.regions[\(index)]"
            let storefront = entry.text("storefront")
            if !ExternalRegions.isStorefront(storefront) {
                reader.fault("\(path).storefront", "is no country in three capitals", "Write such as DEU.")
            }
            guard let from = day(entry.text("from")) else {
                reader.fault("\(path).from", "is no day", "Write such as 2026-01-01.")
                continue
            }
            if regions.contains(where: { $0.storefront == storefront && $0.from == from }) {
                reader.fault(path, "stands twice", "List each day of a storefront once.")
            }
            regions.append(ExternalRegion(storefront: storefront, from: from, rates: rates(entry)))
        }
        for name in ["production_url", "sandbox_url"] where !settings.text(name).isEmpty {
            if AppStoreSettings.base(settings.text(name)) == nil {
                reader.fault(
                    "external_purchases.\(name)", "is no plain web address",
                    "Give scheme, host and path alone, or leave it empty for Apple's own.")
            }
        }
        return ExternalRegions(regions)
    }

    private static func day(_ text: String) -> Timestamp? {
        guard text.utf8.count == 10 else { return nil }
        return Timestamp(iso8601: text)
    }

    private static func rates(_ entry: ProviderSettings) -> [String: Int64] {
        guard case .object(let members)? = entry["tax"] else { return [:] }
        return members.compactMapValues { if case .integer(let rate) = $0 { rate } else { nil } }
    }

    static func rules(
        of account: ProviderAccount, trust: AppleIAPTrust, reachable: Set<Domain.Environment>
    ) -> ExternalPurchaseRules {
        let settings = account.settings.object("external_purchases")
        return ExternalPurchaseRules(
            apps: account.settings.objects("apps").map { app in
                ExternalPurchaseRules.App(
                    bundleID: app.text("bundle_id"),
                    number: app.integer("app_apple_id").flatMap { $0 > 0 ? $0 : nil })
            },
            environments: trust.environments.intersection([.production, .sandbox]), reachable: reachable,
            reportAfterDays: settings.integer("report_after_days") ?? 8,
            regions: read(ProviderSettingsReader(account)))
    }
}
