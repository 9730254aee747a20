import Domain
import Gateway

struct CheckoutFields: Decodable {
    let sku: String
    let quantity: Int64?
    let days: Int64?
    let platform: String
    let currency: String?
    let provider: String?
    let accept: [String]?
    let return_url: String?
    let locale: String?
    let metadata: [String: String]?

    /// The limit of all keys and values together, in bytes of UTF-8.
    private static let metadataBytes = 16 << 10

    private static func check(_ metadata: [String: String]) throws(GatewayError) {
        let size = metadata.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
        guard metadata.count <= 50, size <= metadataBytes,
            metadata.allSatisfy({ (1...64).contains($0.key.utf8.count) && $0.value.utf8.count <= 1_000 })
        else {
            throw .invalidRequest(
                field: "metadata",
                reason: "at most 50 keys of 1 to 64 bytes and values of 1,000 bytes, 16 KiB together, in UTF-8")
        }
    }

    func request(_ gateway: Gateway) throws(GatewayError) -> CheckoutRequest {
        let quantity = quantity ?? 1
        guard SKU.quantityRange.contains(quantity) else {
            throw .invalidRequest(field: "quantity", reason: "must be 1 to 1000")
        }
        let metadata = metadata ?? [:]
        try Self.check(metadata)
        return CheckoutRequest(
            sku: sku, quantity: quantity, days: days, platform: try Self.platform(platform),
            currency: try gateway.cashier.currency(currency.map(Self.currency)), provider: provider,
            accept: try Self.accept(accept), returnURL: return_url, locale: try locale.map(Self.locale),
            metadata: metadata)
    }

    static func platform(_ text: String) throws(GatewayError) -> Platform {
        guard let platform = Platform(rawValue: text) else {
            throw .invalidRequest(field: "platform", reason: .words(Platform.allCases.map(\.rawValue)))
        }
        return platform
    }

    static func currency(_ text: String) throws(GatewayError) -> Currency {
        guard let currency = Currency(text) else {
            throw .invalidRequest(field: "currency", reason: "must be an ISO 4217 currency")
        }
        return currency
    }

    /// Checks the characters and the length of a language tag (RFC 5646 section 2.1).
    static func locale(_ text: String) throws(GatewayError) -> String {
        guard text.isWord(2...35, or: "-") else {
            throw .invalidRequest(field: "locale", reason: "must be a language tag")
        }
        return text.replacing("_", with: "-")
    }

    /// Returns the contract types that the client accepts; unknown ones are ignored, so that newer clients work.
    static func accept(_ types: [String]?) throws(GatewayError) -> Set<ContractType> {
        guard let types else { return ContractType.base }
        guard types.count <= 20 else { throw .invalidRequest(field: "accept", reason: "at most 20") }
        return Set(types.compactMap(ContractType.init))
    }
}
