import Encodings

/// A token that Apple handed to an app for a purchase outside of the App Store, as the app passes it on.
///
/// It is not signed: it proves nothing and grants nothing. Source: Apple, StoreKit, "Receiving and decoding external
/// purchase tokens".
public struct ExternalPurchaseToken: Hashable, Sendable, Codable {
    public let externalPurchaseID: String
    /// The app's number in the App Store.
    public let appAppleID: Int64
    public let bundleID: String
    public let createdAt: Timestamp
    /// The end of the period of a token that serves many purchases; nil for a token of one purchase.
    public let expiresAt: Timestamp?
    /// Apple's word, `SERVICES` or `ACQUISITION`; nil for a token of one purchase.
    public let type: String?

    public init(
        externalPurchaseID: String, appAppleID: Int64, bundleID: String, createdAt: Timestamp,
        expiresAt: Timestamp? = nil, type: String? = nil
    ) {
        self.externalPurchaseID = externalPurchaseID
        self.appAppleID = appAppleID
        self.bundleID = bundleID
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.type = type
    }
}

extension ExternalPurchaseToken {
    /// The most bytes of a token's text; Apple's have about 300.
    public static let longest = 4_096

    /// Apple's JSON inside a token.
    private struct Fields: Decodable {
        let externalPurchaseId: String
        let appAppleId: Int64
        let bundleId: String
        let tokenCreationDate: Int64
        let tokenExpirationDate: Int64?
        let tokenType: String?
    }

    /// Milliseconds since 1970-01-01 UTC: the years 1970 to 9999.
    private static let times: ClosedRange<Int64> = 0...253_402_300_799_999

    /// Reads base64url, with or without padding, of Apple's JSON.
    ///
    /// - Returns: nil for everything else, and for ids that no column takes.
    public init?(_ text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        var bytes = Array(text.utf8)
        for _ in 0..<2 where bytes.last == UInt8(ascii: "=") && text.utf8.count.isMultiple(of: 4) { bytes.removeLast() }
        guard let json = Base64.decodeURL(bytes[...]), let tree = try? JSONTree(json, depth: 8),
            let fields = try? tree.decode(Fields.self)
        else { return nil }
        func isName(_ text: String) -> Bool { (1...255).contains(text.utf8.count) && text.isPlain }
        let dates = [fields.tokenCreationDate] + [fields.tokenExpirationDate].compactMap(\.self)
        guard fields.externalPurchaseId.hasBytes(1...128, where: { (0x21...0x7E).contains($0) }),
            isName(fields.bundleId), fields.tokenType.map(isName) ?? true, fields.appAppleId >= 0,
            dates.allSatisfy(Self.times.contains)
        else { return nil }
        self.init(
            externalPurchaseID: fields.externalPurchaseId, appAppleID: fields.appAppleId, bundleID: fields.bundleId,
            createdAt: Timestamp(fields.tokenCreationDate.flooredSeconds),
            expiresAt: fields.tokenExpirationDate.map { Timestamp($0.flooredSeconds) }, type: fields.tokenType)
    }

    /// The environment of a token's id: those of the sandbox begin with its name.
    public static func environment(of externalPurchaseID: String) -> Environment {
        externalPurchaseID.hasPrefix("SANDBOX") ? .sandbox : .production
    }

    public var environment: Environment { Self.environment(of: externalPurchaseID) }
}
