import AppleTrust
import Crypto
import Domain
import Foundation
import SwiftASN1
import Synchronization
import Testing
import X509

@testable import AppStoreBox

/// The keys and certificates of a box.
struct AuthorityTests {
    static let made = Timestamp(1_760_000_000)

    // RSA keys take long to make, so the tests share two authorities.
    private static let shared = [UInt64(1), 2].map { seed in
        Result { try BoxAuthority(at: made, random: .seeded(seed)) }
    }

    static func authority(_ number: Int = 1) throws -> BoxAuthority { try shared[number - 1].get() }

    @Test func chainsAreBuiltLikeApples() throws {
        let authority = try Self.authority()
        for chain in [authority.store, authority.receipts] {
            let parts = try [chain.leaf, chain.intermediate, chain.root].map { try Certificate(derEncoded: $0) }
            #expect(parts[0].extensions[oid: [1, 2, 840, 113_635, 100, 6, 11, 1]] != nil)
            #expect(parts[1].extensions[oid: [1, 2, 840, 113_635, 100, 6, 2, 1]] != nil)
            #expect(parts[2].issuer == parts[2].subject)
            let begin = Double(Self.made.rawValue) - 86_400
            #expect(parts.allSatisfy { $0.notValidBefore.timeIntervalSince1970 == begin })
            let years = parts.map { ($0.notValidAfter.timeIntervalSince1970 - begin) / (365.25 * 86_400) }
            #expect(years.map { $0.rounded() } == [12, 20, 25])
            for (subject, issuer) in [(parts[0], parts[1]), (parts[1], parts[2])] {
                #expect(subject.issuer == issuer.subject)
                #expect(issuer.publicKey.isValidSignature(subject.signature, for: subject))
            }
        }
        #expect(P384.Signing.PublicKey(try Certificate(derEncoded: authority.store.root).publicKey) != nil)
        #expect(P256.Signing.PublicKey(try Certificate(derEncoded: authority.store.leaf).publicKey) != nil)
    }

    @Test func noTwoAreAlike() throws {
        let (one, other) = (try Self.authority(1), try Self.authority(2))
        #expect(one.keyID != other.keyID && one.issuerID != other.issuerID)
        #expect(Set((one.roots + other.roots)).count == 4)
        #expect(try one.keyFile() != other.keyFile())
    }

    @Test func storedBytesGiveTheSameAuthority() throws {
        let authority = try Self.authority()
        let bytes = try authority.encoded()
        #expect(try BoxAuthority(encoded: bytes) == authority)
        for damaged in [[], Array("{}".utf8), Array(bytes.dropLast(9)), Array(bytes.reversed())] {
            #expect(throws: BoxAuthorityError.damaged) { try BoxAuthority(encoded: damaged) }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let future = text.replacing("\"version\":1", with: "\"version\":2")
        #expect(throws: BoxAuthorityError.damaged) { try BoxAuthority(encoded: Array(future.utf8)) }
        let keyless = text.replacing(/"apiKey":"[^"]{4}/, with: "\"apiKey\":\"")
        #expect(throws: BoxAuthorityError.damaged) { try BoxAuthority(encoded: Array(keyless.utf8)) }
    }

    @Test func keyFileIsPKCS8AndNamesLookLikeApples() throws {
        let authority = try Self.authority()
        let pem = try authority.keyFile()
        #expect(pem.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && pem.hasSuffix("-----END PRIVATE KEY-----\n"))
        #expect(throws: Never.self) { try P256.Signing.PrivateKey(pemRepresentation: pem) }
        #expect(authority.keyID.wholeMatch(of: /[A-Z2-9]{10}/) != nil)
        #expect(authority.issuerID.wholeMatch(of: /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/) != nil)
    }

    @Test func descriptionsShowNoKey() throws {
        let authority = try Self.authority()
        var dumped = ""
        dump(authority, to: &dumped)
        #expect("\(authority)" == "BoxAuthority(\(authority.keyID))")
        #expect(!dumped.contains("leafKey") && !dumped.contains("apiKey") && !dumped.contains("receiptKey"))
    }

    @Test func randomBytesThatAreNoKeyAreRefused() {
        #expect(throws: BoxAuthorityError.keyRefused) {
            try BoxAuthority(at: Self.made, random: RandomSource { [UInt8](repeating: 0, count: $0) })
        }
    }
}

extension RandomSource {
    /// Bytes that are the same in every run, and others for another seed.
    static func seeded(_ seed: UInt64) -> RandomSource {
        let state = SeededState(seed)
        return RandomSource { count in state.bytes(count) }
    }
}

private final class SeededState: Sendable {
    private let counter: Mutex<UInt64>

    init(_ seed: UInt64) { counter = Mutex(seed << 32) }

    func bytes(_ count: Int) -> [UInt8] {
        counter.withLock { counter in
            var bytes: [UInt8] = []
            while bytes.count < count {
                bytes += SHA256.hash(data: withUnsafeBytes(of: counter) { Array($0) })
                counter += 1
            }
            return Array(bytes.prefix(count))
        }
    }
}
