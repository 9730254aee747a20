import AppleIAPProvider
import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import TestSupport
import Testing

@Suite("Signed offers")
struct SignedOfferTests {
    private static let nonce = "0f8fad5b-d9cb-469f-a165-70867728950e"
    private static let time: Int64 = 1_790_000_000_123
    private static let username = "7B2C9E1A-0000-4000-8000-000000000001"

    private static func provider(
        _ api: [String: SettingValue]? = [
            "key_id": .text(AppStoreFixture.keyID), "issuer_id": .text(AppStoreFixture.issuer),
            "private_key": .text(AppStoreFixture.privateKey.pemRepresentation),
        ], box: AppStoreBoxAccess? = nil
    ) throws -> AppleIAPProvider {
        let app = SettingValue.object(["bundle_id": .text("com.example.app"), "app_apple_id": .integer(1)])
        var settings: [String: SettingValue] = ["apps": .list([app])]
        settings["api"] = api.map(SettingValue.object)
        return try AppleIAPProvider(
            account: ProviderAccount(
                id: AccountID("apple-iap")!, settings: ProviderSettings(settings), isDevelopment: true, box: box),
            context: ProviderContext(
                http: RecordingTransport { _ throws(HTTPTransportError) in throw .notSent }, time: ManualClock().time,
                random: SeededRandom().source, book: InMemoryBook(), notifyURL: "", publicURL: "https://pay.example"))
    }

    private static func statement(
        _ kind: OfferStatement.Kind = .promotional(offer: "spring"), transaction: String? = "2000000000000001"
    ) -> OfferStatement {
        OfferStatement(
            bundleID: "com.example.app", productID: "com.example.news.month", kind: kind, transactionID: transaction,
            nonce: nonce, signedAt: time)
    }

    private static func claims(_ token: String) throws -> JSONValue {
        let parts = token.split(separator: ".")
        try #require(parts.count == 3)
        let signature = try P256.Signing.ECDSASignature(
            rawRepresentation: Data(try #require(Base64URL.decoded(parts[2]))))
        #expect(
            AppStoreFixture.privateKey.publicKey.isValidSignature(
                signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
        return try JSONDecoder().decode(JSONValue.self, from: Data(try #require(Base64URL.decoded(parts[1]))))
    }

    @Test func `a promotional offer has apple's claims, and names a transaction only where there is one`() throws {
        let provider = try Self.provider()
        var members: [String: JSONValue] = [
            "iss": .string(AppStoreFixture.issuer), "bid": .string("com.example.app"),
            "aud": .string("promotional-offer"), "iat": .integer(Self.time / 1_000), "nonce": .string(Self.nonce),
            "productId": .string("com.example.news.month"), "offerIdentifier": .string("spring"),
            "transactionId": .string("2000000000000001"),
        ]
        #expect(try Self.claims(provider.signedToken(of: Self.statement())) == .object(members))
        members["transactionId"] = nil
        #expect(try Self.claims(provider.signedToken(of: Self.statement(transaction: nil))) == .object(members))
    }

    @Test(arguments: [true, false])
    func `an introductory offer says yes or no`(_ isAllowed: Bool) throws {
        let token = try Self.provider().signedToken(of: Self.statement(.introductory(isAllowed: isAllowed)))
        #expect(
            try Self.claims(token)
                == .object([
                    "iss": .string(AppStoreFixture.issuer), "bid": .string("com.example.app"),
                    "aud": .string("introductory-offer-eligibility"), "iat": .integer(Self.time / 1_000),
                    "nonce": .string(Self.nonce), "productId": .string("com.example.news.month"),
                    "allowIntroductoryOffer": .bool(isAllowed), "transactionId": .string("2000000000000001"),
                ]))
    }

    @Test func `the first form signs apple's text`() throws {
        let signed = try Self.provider().signature(of: Self.statement(), for: Self.username)
        #expect(signed.keyID == AppStoreFixture.keyID)
        let text = [
            "com.example.app", AppStoreFixture.keyID, "com.example.news.month", "spring", Self.username.lowercased(),
            Self.nonce, "\(Self.time)",
        ].joined(separator: "\u{2063}")
        let signature = try P256.Signing.ECDSASignature(
            derRepresentation: try #require(Data(base64Encoded: signed.signature)))
        #expect(AppStoreFixture.privateKey.publicKey.isValidSignature(signature, for: Data(text.utf8)))
        #expect(throws: ProviderError.unsupported) {
            try Self.provider().signature(of: Self.statement(.introductory(isAllowed: true)), for: "")
        }
    }

    @Test func `without a key nothing is signed, and a box's key signs nothing`() throws {
        let box = AppStoreBoxAccess(
            roots: [], keyID: AppStoreFixture.keyID, issuerID: AppStoreFixture.issuer,
            privateKey: AppStoreFixture.privateKey.pemRepresentation, address: "http://127.0.0.1:1/dev/appstore")
        for provider in [try Self.provider(nil), try Self.provider(nil, box: box)] {
            #expect(!provider.signsOffers && provider.offeringApps == ["com.example.app"])
            #expect(throws: ProviderError.unsupported) { try provider.signedToken(of: Self.statement()) }
            #expect(throws: ProviderError.unsupported) {
                try provider.signature(of: Self.statement(), for: Self.username)
            }
        }
    }

    @Test func `apple's own library says the same`() async throws {
        let provider = try Self.provider()
        let tokens = try [
            Self.statement(), Self.statement(transaction: nil), Self.statement(.introductory(isAllowed: false)),
        ].map { try provider.signedToken(of: $0) }
        let given: [String: JSONValue] = [
            "pem": .string(AppStoreFixture.privateKey.pemRepresentation), "key_id": .string(AppStoreFixture.keyID),
            "issuer": .string(AppStoreFixture.issuer), "bundle": .string("com.example.app"),
            "product": .string("com.example.news.month"), "offer": .string("spring"),
            "transaction": .string("2000000000000001"), "username": .string(Self.username),
            "nonce": .string(Self.nonce), "timestamp": .integer(Self.time),
            "signature": .string(try provider.signature(of: Self.statement(), for: Self.username).signature),
            "jws": .array(tokens.map(JSONValue.string)),
        ]
        let verdicts = try await InteropPython(peer: "app-store-server-library").lines(
            "offers.py", input: try JSONEncoder().encode(given))
        #expect(verdicts == Array(repeating: "same", count: 4))
    }
}
