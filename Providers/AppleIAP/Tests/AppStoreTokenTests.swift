import AppleIAPProvider
import AppleTrust
import Crypto
import Domain
import Foundation
import ProviderKit
import ProviderTesting
import Testing

struct AppStoreTokenTests {
    private struct Header: Decodable, Equatable {
        let alg: String
        let kid: String
        let typ: String
    }

    private struct Claims: Decodable, Equatable {
        let iss: String
        let iat: Int64
        let exp: Int64
        let aud: String
        let bid: String
    }

    private func token(_ request: OutgoingRequest) throws -> String {
        let value = try #require(request.headers.first { $0.name == "Authorization" }?.value)
        return String(try #require(value.split(separator: " ").last))
    }

    private func decoded(_ part: Substring) throws -> Data {
        Data(try #require(Base64URL.decoded(part)))
    }

    private static let good = AppStoreFixture.Reply.json(#"{"signedTransactionInfo":"a.b.c"}"#)

    @Test func `the token is apple's and signed by the key`() async throws {
        let fixture = AppStoreFixture([Self.good])
        _ = try await fixture.api().transaction("1")
        let parts = try token(try #require(fixture.requests.first)).split(separator: ".")
        try #require(parts.count == 3)
        let header = try JSONDecoder().decode(Header.self, from: decoded(parts[0]))
        #expect(header == Header(alg: "ES256", kid: AppStoreFixture.keyID, typ: "JWT"))
        let claims = try JSONDecoder().decode(Claims.self, from: decoded(parts[1]))
        let now = AppStoreFixture.start / 1_000
        #expect(
            claims
                == Claims(
                    iss: AppStoreFixture.issuer, iat: now, exp: now + 300, aud: "appstoreconnect-v1",
                    bid: "com.example.app"))
        #expect(claims.exp - claims.iat <= 3_600)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: decoded(parts[2]))
        #expect(
            AppStoreFixture.privateKey.publicKey.isValidSignature(
                signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
    }

    @Test(
        arguments: [(0, true), (239_999, true), (240_000, false), (-1_000, false), (86_400_000, false)]
            as [(Int64, Bool)])
    func `a token is used until shortly before its end`(later: Int64, isReused: Bool) async throws {
        let fixture = AppStoreFixture([Self.good, Self.good])
        let api = try fixture.api()
        _ = try await api.transaction("1")
        fixture.advance(milliseconds: later)
        _ = try await api.transaction("1")
        let tokens = try fixture.requests.map(token)
        #expect((tokens[0] == tokens[1]) == isReused)
    }

    @Test func `a used token that is refused is replaced once`() async throws {
        let fixture = AppStoreFixture([
            Self.good, .status(401), Self.good, .status(401), .status(401), .status(401),
        ])
        let api = try fixture.api([.production])
        _ = try await api.transaction("1")
        fixture.advance(milliseconds: 2_000)
        _ = try await api.transaction("1")
        let tokens = try fixture.requests.map(token)
        #expect(tokens.count == 3 && tokens[0] == tokens[1] && tokens[1] != tokens[2])
        for calls in [5, 6] {
            let end = await failure { () throws(AppStoreServerError) in try await api.transaction("1") }
            #expect(end == .unauthorized(.production) && fixture.requests.count == calls)
        }
    }

    @Test func `no secret is ever shown`() async throws {
        let pem = AppStoreFixture.privateKey.pemRepresentation
        let secrets =
            pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.map { String($0.prefix(24)) }
            + [Hex.encoded(AppStoreFixture.privateKey.rawRepresentation)]
        let fixture = AppStoreFixture([.status(401), .apple(4_000_000)])
        let api = try fixture.api()
        var shown: [String] = []
        for _ in 0..<2 {
            let end = try #require(
                await failure { () throws(AppStoreServerError) in try await api.transaction("1") })
            shown += ["\(end)", String(reflecting: end)]
        }
        let token = try token(try #require(fixture.requests.last))
        for value: Any in [api, try AppStoreFixture.key(), await api.diagnose()] {
            var dumped = ""
            dump(value, to: &dumped)
            shown += ["\(value)", String(reflecting: value), dumped]
        }
        for text in shown {
            for secret in secrets + [token] { #expect(!text.contains(secret), "\(text)") }
            #expect(!text.contains("PRIVATE KEY") && !text.contains("SigningKey"), "\(text)")
        }
    }
}
