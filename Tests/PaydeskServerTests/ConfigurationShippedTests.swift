import Domain
import Foundation
import PaydeskServer
import ProviderKit
import Testing

/// The configuration folder of the product.
enum ShippedConfiguration {
    static func load(environment: [String: String] = [:]) throws -> Configuration {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Config").path
        let temporary = try TemporaryFolder()
        return try ConfigurationLoader.load(
            folder: folder, environment: environment, manifests: TestKinds.manifests,
            developmentSecrets: DevelopmentSecretsFile(path: temporary.path + "/secrets.json", random: .counting))
    }
}

struct ConfigurationShippedTests {
    @Test func `the shipped folder serves in development with every contract`() throws {
        let configuration = try ShippedConfiguration.load()
        #expect(configuration.isDevelopment && configuration.databaseURL == "sqlite:var/paydesk.db")
        #expect(configuration.development.appStore && configuration.development.appStoreFile == nil)
        #expect(
            configuration.accounts.map(\.id.rawValue) == ["apple-iap", "sandbox-qr", "sandbox-stripe", "sandbox-url"])
        #expect(configuration.accounts.map(\.routing.priority) == [100, 49, 48, 50])
        #expect(configuration.accounts.dropFirst().map { $0.settings.text("contract") } == ["qr", "stripe", "url"])
        #expect(configuration.accounts.allSatisfy { $0.enabled && $0.notifyToken?.isEmpty == false })
        let meter = try #require(configuration.meters.first)
        #expect(meter.id == "messages" && meter.limit(tier: "") == 10 && meter.limit(tier: "VIP") == nil)
    }

    @Test func `the sandbox's secret can come from the environment`() throws {
        let configuration = try ShippedConfiguration.load(environment: ["SANDBOX_SECRET": "mine"])
        #expect(configuration.accounts.dropFirst().map { $0.settings.text("secret") } == ["mine", "mine", "mine"])
    }

    @Test(
        arguments: [
            ("vip_monthly_auto", "29.90 CNY"), ("vip_month", "39.90 CNY"), ("vip_quarter", "69.90 CNY"),
            ("vip_year", "169.00 CNY"), ("device_walkie_talkie", "0.99 USD"), ("device_camp_radio", "2.99 USD"),
            ("device_cellphone", "4.99 USD"), ("coins_100", "6.00 CNY"), ("trial_3_days", "0.00 CNY"),
        ])
    func `the shipped catalogue has the right prices`(_ id: String, _ price: String) throws {
        let sku = try #require(try ShippedConfiguration.load().catalogue.first { $0.id == id })
        #expect(sku.prices.first?.description == price)
    }

    @Test func `the shipped catalogue has the products' terms`() throws {
        let skus = Dictionary(uniqueKeysWithValues: try ShippedConfiguration.load().catalogue.map { ($0.id, $0) })
        let vip = skus.values.filter { $0.tier == "VIP" }
        #expect(vip.count == 4 && vip.allSatisfy { $0.stackGroup == "VIP" })
        #expect(Set(vip.compactMap(\.planCode)) == ["monthly_auto", "monthly", "quarterly", "yearly"])
        #expect(skus["vip_monthly_auto"]?.appleProductIDs == ["com.qinghe.qinghe.membership.monthlyv4"])
        #expect(skus["vip_monthly_auto"]?.kind == .subscription && skus["vip_monthly_auto"]?.renewal == .onePeriod)
        #expect(skus["device_camp_radio"]?.attributes["range_km"] == .integer(30))
        #expect(skus["device_camp_radio"]?.localized(for: ["en-US"]).name == "Camp radio")
        #expect(skus["basic_days"]?.appleOffer(days: nil).sorted().first == "merchant.hifastvpn.day30")
        #expect(skus["basic_days"]?.options.map(\.days) == [7, 30, 90] && skus["basic_days"]?.subscribeID == 1_001)
        #expect(skus["trial_3_days"]?.durationDays == 3)
    }
}
