import AppleTrust
public import Domain
import Foundation
public import ProviderKit

/// The verifier of an account with its settings, and the rules for purchases outside of production.
struct AppleIAPTrust: Sendable {
    let verifier: AppleVerifier
    let testPurchases: TestPurchaseRules
    /// True where unsigned receipts of the simulator are accepted: only in development mode with the Xcode environment.
    let takesSimulatorReceipts: Bool
    /// The apps that sell in Production and lack the `app_apple_id`, with which Production's notifications are
    /// compared.
    let appsWithoutNumber: [String]
    /// The environments that are accepted.
    let environments: Set<Domain.Environment>

    init(_ account: ProviderAccount) throws(ProviderSetupError) {
        let settings = account.settings
        let usual = account.isDevelopment ? ["Production", "Sandbox", "Xcode"] : ["Production", "Sandbox"]
        let names = settings["environments"] == nil ? usual : settings.texts("environments")
        let environments = Set(names.compactMap(AppleEnvironment.init(rawValue:)))
        self.environments = Set(environments.map(Domain.Environment.init))
        let apps = settings.objects("apps").map {
            AppleApp(
                bundleID: $0.text("bundle_id"), appAppleID: $0.integer("app_apple_id").flatMap { $0 > 0 ? $0 : nil })
        }
        appsWithoutNumber =
            environments.contains(.production) ? apps.filter { $0.appAppleID == nil }.map(\.bundleID) : []
        let configuration = AppleVerifierConfiguration(
            apps: apps, environments: environments, extraRoots: try Self.certificates("root_certificates", settings),
            boxRoots: account.isDevelopment ? account.box?.roots ?? [] : [],
            xcodeCertificates: try Self.certificates("xcode_certificates", settings))
        do throws(AppleVerifierSetupError) {
            verifier = try AppleVerifier(configuration)
        } catch {
            throw ProviderSetupError([Self.fault(error)])
        }
        let sandbox = settings.object("sandbox")
        let entitled: TestPurchaseRules.Entitled =
            switch sandbox.text("entitles") {
            case "none": .none
            case "users": .users(Set(sandbox.texts("users")))
            default: .all
            }
        testPurchases = TestPurchaseRules(
            entitled: entitled, maxHours: sandbox.integer("max_hours") ?? (account.isDevelopment ? 0 : 24),
            takesBox: account.isDevelopment)
        takesSimulatorReceipts = account.isDevelopment && environments.contains(.xcode)
    }

    /// Reads the certificates of PEM or DER files.
    private static func certificates(
        _ setting: String, _ settings: ProviderSettings
    ) throws(ProviderSetupError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for (index, path) in settings.texts(setting).enumerated() {
            guard let data = FileManager.default.contents(atPath: path), let der = CertificateFile.der(Array(data))
            else {
                throw ProviderSetupError([
                    .init(
                        setting: "\(setting)[\(index)]", problem: "is no certificate that can be read",
                        remedy: "Name a PEM or DER file.")
                ])
            }
            found.append(der)
        }
        return found
    }

    private static func fault(_ error: AppleVerifierSetupError) -> ProviderSetupError.Fault {
        switch error {
        case .noApps: .init(setting: "apps", problem: "empty", remedy: "Add the app with its bundle_id.")
        case .noEnvironments: .init(setting: "environments", problem: "empty", remedy: "List at least one.")
        case .unusableRoot(let index):
            .init(
                setting: "root_certificates[\(index)]", problem: "is no CA certificate that can anchor a chain",
                remedy: "Name the root of your test chain.")
        case .unusableBoxRoot:
            .init(
                setting: "apps", problem: "cannot be sold in the App Store in a box: its root is damaged",
                remedy: "Write development.appstore: false, or restore the database.")
        case .unusableXcodeCertificate(let index):
            .init(
                setting: "xcode_certificates[\(index)]", problem: "is no certificate with a P-256 key",
                remedy: "Save it from Xcode's StoreKit configuration.")
        case .damagedBuiltInRoot:
            .init(setting: "apps", problem: "cannot be served: the program is damaged", remedy: "Install it again.")
        }
    }
}

extension AppleIAPProvider: PurchaseVerifying {
    public var testPurchases: TestPurchaseRules { trust.testPurchases }

    public func verify(_ evidence: PurchaseEvidence) throws(PurchaseRefusal) -> StorePurchase {
        switch evidence {
        case .signedTransaction(let jws):
            do throws(AppleRefusal) {
                let transaction = try trust.verifier.transaction(jws)
                log.unread(transaction.unreadFields)
                return StorePurchase(transaction)
            } catch {
                throw PurchaseRefusal(error.reason, detail: error.detail)
            }
        case .simulatorReceipt(let receipt):
            guard trust.takesSimulatorReceipts else {
                throw PurchaseRefusal(.wrongEnvironment, detail: "simulator receipts are not taken here")
            }
            guard let purchase = SimulatorReceipt.purchase(receipt) else {
                throw PurchaseRefusal(.malformed, detail: "not a simulator's receipt")
            }
            return purchase
        }
    }
}

/// The simulator's receipt from clients that post `receiptData`: unsigned JSON in base64.
enum SimulatorReceipt {
    private struct Fields: Decodable {
        let environment: String
        let transaction_id: String
        let product_id: String
        let purchase_date: String
    }

    static func purchase(_ receipt: String) -> StorePurchase? {
        // Base64 that may have line breaks, like a receipt.
        guard receipt.utf8.count <= 16_384, let json = Data(base64Encoded: receipt.filter { !$0.isWhitespace }),
            let fields = try? JSONDecoder().decode(Fields.self, from: json), fields.environment == "Xcode",
            (1...64).contains(fields.transaction_id.utf8.count), (1...255).contains(fields.product_id.utf8.count),
            let date = try? Date.ISO8601FormatStyle().parse(fields.purchase_date)
        else { return nil }
        let time = Int64(date.timeIntervalSince1970 * 1_000)
        return StorePurchase(
            environment: .xcode, bundleID: "", productID: fields.product_id, transactionID: fields.transaction_id,
            originalTransactionID: fields.transaction_id, kind: .unknown(""), purchasedAt: time, expiresAt: nil,
            signedAt: time, quantity: 1, priceMilliunits: nil, currency: nil, appAccountToken: nil, isRenewal: false,
            isUpgraded: false, isFamilyShared: false, revocation: nil)
    }
}
