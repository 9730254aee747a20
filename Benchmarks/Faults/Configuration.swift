import Foundation
import TestSupport

/// The configuration of the server: real routes, no rate limits, and the values that clients need.
enum Configuration {
    static let userSecret = "a-secret-of-the-fault-test-with-enough-bytes"
    static let sandboxSecret = "fault-test-sandbox-secret"
    static let urlAccount = "fault-url"
    /// An account whose contracts are paid when they are opened.
    static let noneAccount = "fault-none"
    static let walletAccount = "apple-pay"
    /// An account whose processor charges, but whose answers are lost.
    static let losingAccount = "apple-pay-lost"
    static let notifyToken = "fault-url-notify-token"
    /// A payment service outside of the process, with a book of its own.
    static let serviceAccount = "fault-service"
    static let serviceToken = "fault-service-notify-token"
    static let pass = Goods(sku: "vip_month", product: "com.example.vip.month", price: 3_990, units: 0)
    static let coins = Goods(sku: "coins_100", product: "com.example.coins", price: 600, units: 100)
    static let unit = "coins"
    /// The accounts that charge mandates; several, because the sandbox's book of one keeps its newest 100,000 entries.
    static let renewalAccounts = (1...4).map { "fault-renewals-\($0)" }

    /// A product in the App Store and in the catalogue.
    struct Goods: Sendable {
        let sku: String
        let product: String
        /// The price in hundredths of a yuan.
        let price: Int64
        /// The units that one item credits; 0 for a pass.
        let units: Int64
    }

    /// Writes the folder and returns its path.
    ///
    /// - Parameter service: the address of the payment service.
    static func write(_ place: Place, service: String) throws -> String {
        let folder = place.folder + "/Config"
        try FileManager.default.createDirectory(atPath: folder + "/providers", withIntermediateDirectories: true)
        let files = [
            "paydesk.yaml": server(place), "catalog.yaml": catalogue, "providers/apple-iap.yaml": apple,
            "providers/\(urlAccount).yaml": sandbox(urlAccount, contract: "url", token: notifyToken),
            "providers/\(noneAccount).yaml": sandbox(noneAccount, contract: "none", token: notifyToken + "-none"),
            "providers/\(serviceAccount).yaml": remote(service),
            "providers/card.yaml": processor("card", reply: "normal"),
            "providers/card-lost.yaml": processor("card-lost", reply: "lost"),
            "providers/\(walletAccount).yaml": wallet(walletAccount, processor: "card"),
            "providers/\(losingAccount).yaml": wallet(losingAccount, processor: "card-lost"),
            "processing.pem": ApplePayTestTokens.processingEC.certificatePEM,
            "processing.key": ApplePayTestTokens.processingEC.keyPEM,
        ]
        let renewing = renewalAccounts.map {
            (
                "providers/\($0).yaml",
                sandbox($0, contract: "url", token: "\(notifyToken)-\($0)", routing: ", weight: 0")
            )
        }
        for (name, text) in files.merging(renewing, uniquingKeysWith: { $1 }) {
            try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
        }
        return folder
    }

    private static func server(_ place: Place) -> String {
        """
        mode: development
        http: {host: 127.0.0.1, port: \(place.port), public_url: "http://127.0.0.1:\(place.port)"}
        database: {url: "\(place.servedURL)"}
        secrets: {keys: ["\(Data(repeating: 7, count: 32).base64EncodedString())"]}
        auth: {hs256_secret: "\(userSecret)"}
        webhooks: {allow_private_networks: true}
        billing: {per_second: 10000}
        limits: {user_per_second: 0, user_burst: 0, key_per_second: 0, key_burst: 0, concurrent: 0}

        """
    }

    private static var catalogue: String {
        let renewing = RenewalPlan.allCases.map {
            """
              - {id: \($0.sku), name: \($0.sku), kind: subscription, renewal: managed, tier: \($0.tier), rank: 20,
                 period: {unit: \($0.unit), count: 1}, grace_days: \($0.graceDays),
                 prices: [{currency: CNY, value: \($0.price)}]}
            """
        }.joined(separator: "\n")
        return """
            skus:
              - {id: \(pass.sku), name: VIP for a month, kind: non_renewing, tier: VIP, rank: 10, duration_days: 30,
                 prices: [{currency: CNY, value: \(pass.price)}], apple_product_ids: [\(pass.product)]}
              - {id: \(coins.sku), name: Coins, kind: consumable, units: {\(unit): \(coins.units)},
                 prices: [{currency: CNY, value: \(coins.price)}], apple_product_ids: [\(coins.product)]}
            \(renewing)

            """
    }

    private static var apple: String {
        """
        account: apple-iap
        kind: apple_iap
        routing: {platforms: [ios], priority: 100}
        settings:
          apps: [{bundle_id: com.example.app}]
          environments: [Production]
          root_certificates: ["\(AppleTestCertificates.rootFile)"]

        """
    }

    private static func sandbox(
        _ account: String, contract: String, token: String, routing: String = ""
    ) -> String {
        """
        account: \(account)
        kind: sandbox
        notify_token: \(token)
        routing: {platforms: [web]\(routing)}
        settings: {contract: \(contract), secret: \(sandboxSecret)}

        """
    }

    private static func remote(_ url: String) -> String {
        """
        account: \(serviceAccount)
        kind: remote
        notify_token: \(serviceToken)
        routing: {platforms: [web]}
        settings: {url: "\(url)", secrets: ["\(PaymentService.secret)"]}

        """
    }

    private static func wallet(_ account: String, processor: String) -> String {
        """
        account: \(account)
        kind: apple_pay
        routing: {platforms: [web]}
        settings:
          merchant_identifier: \(ApplePayTestTokens.merchantIdentifier)
          display_name: Example
          domain: shop.example.com
          country_code: CN
          supported_networks: [visa, chinaUnionPay]
          merchant_capabilities: [supports3DS]
          payment_processing: [{certificate: "processing.pem", private_key: "file:processing.key"}]
          processor: \(processor)
          token_form: encrypted
          root_certificates: ["\(ApplePayTestTokens.rootFile)"]

        """
    }

    private static func processor(_ account: String, reply: String) -> String {
        """
        account: \(account)
        kind: sandbox
        routing: {platforms: [web], weight: 0}
        settings: {contract: url, secret: \(sandboxSecret), reply: \(reply)}

        """
    }
}
