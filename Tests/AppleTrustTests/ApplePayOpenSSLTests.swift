import Foundation
import TestSupport
import Testing

@testable import AppleTrust

/// `openssl cms -verify` decides about the same signatures as we do, with the content that the token means.
///
/// It verifies at the signing time and for any purpose. It knows nothing of Apple's markers, of Apple's way to write a
/// message, and of the window of time: what it is laxer about is listed below, and it accepts all that we accept.
@Suite("OpenSSL agrees about payment tokens")
struct ApplePayOpenSSLTests {
    struct Example {
        let name: String
        let token: ApplePayToken
        /// Nil where we accept it: without a key, and without its order.
        let refusal: ApplePayRefusal?
        /// Seconds.
        let time: Int64
    }

    @Test func `on every minted variant that has a message`() async throws {
        let examples = Self.examples
        let accepted = try await Self.ask(examples)
        try #require(accepted.count == examples.count)
        var laxer: [String] = []
        for (example, theirs) in zip(examples, accepted) {
            if example.refusal == nil {
                #expect(theirs, "\(example.name): we accept what OpenSSL refuses")
            } else if theirs {
                laxer.append(example.name)
            }
        }
        let ours = examples.count { $0.refusal == nil }
        print(
            "interop: \(examples.count) payment tokens, OpenSSL accepts all \(ours) that we accept,",
            "and \(laxer.count) that are ours alone to refuse")
        #expect(ours >= 30 && examples.count - ours - laxer.count >= 20)
        // Ours alone: markers, and how strictly a message is written.
        let known = Set(
            (Self.onlyOurs + Self.timeless).flatMap { variant in
                variant.versions.map { "\($0.rawValue) \(variant.rawValue)" }
            })
        #expect(Set(laxer).isSubset(of: known), "\(Set(laxer).subtracting(known))")
    }

    private static let onlyOurs: [ApplePayVariant] = [
        .leafMarkerMissing, .intermediateMarkerMissing, .leafMarkerDoubled, .intermediateMarkerDoubled,
        .markersSwapped, .thirdCertificate, .leafTwice, .signerDuplicated, .versionThree, .attributesUnordered,
        .signingTimeMissing, .digestSHA1, .digestSHA384, .leafOnP384, .leafOfOtherVersion, .leafIsAuthority,
        .signerIsIntermediate, .signedAttributesMissing, .contentTypeOther, .algorithmOther,
        .contentAttached,
    ]
    /// Not asked: it does not judge the window, nor what is outside of the signature.
    private static let timeless: [ApplePayVariant] = [
        .signingTimeStale, .signingTimeFuture, .transactionIdentifierOther, .transactionIdentifierEmpty,
    ]

    private static var examples: [Example] {
        ApplePayVariantTests.Case.all.flatMap { example -> [Example] in
            // Twice, because every token has its own keys.
            (0..<2).compactMap { _ in
                let json = ApplePayTokenFixture.token(example.version, example.variant)
                guard let token = try? ApplePayToken(json) else { return nil }
                var refusal: ApplePayRefusal?
                do throws(ApplePayRefusal) {
                    _ = try ApplePayTokenFixture.verifier.verify(
                        token, applicationData: ApplePayTokenFixture.applicationData, at: ApplePayTokenFixture.now)
                } catch { refusal = error }
                let shift: Int64 =
                    example.variant == .signingTimeStale ? -3_600 : example.variant == .signingTimeFuture ? 3_600 : 0
                return Example(
                    name: "\(example.version.rawValue) \(example.variant.rawValue)", token: token, refusal: refusal,
                    time: ApplePayTokenFixture.seconds + shift)
            }
        }
    }

    /// - Throws: ``MissingProgram`` where there is no OpenSSL.
    private static func ask(_ examples: [Example]) async throws -> [Bool] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "apple-pay-openssl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(ApplePayTestTokens.root.certificatePEM.utf8).write(to: folder.appending(path: "root.pem"))
        for (index, example) in examples.enumerated() {
            let fields = example.token.fields
            let content = fields.wrappedKey + fields.data + fields.transactionID + (fields.applicationData ?? [])
            try Data(fields.signature).write(to: folder.appending(path: "\(index).der"))
            try Data(content).write(to: folder.appending(path: "\(index).content"))
        }
        let times = examples.enumerated().map { "\($0) \($1.time)\n" }.joined()
        try Data(times.utf8).write(to: folder.appending(path: "times"))
        let script = """
            command -v openssl >/dev/null || exit 3
            while read -r index time; do
                openssl cms -verify -inform DER -in "$index.der" -content "$index.content" -CAfile root.pem \\
                    -attime "$time" -purpose any -binary -out "$index.out" 2>"$index.errors" \\
                    && cmp -s "$index.out" "$index.content" && touch "$index.accepted"
            done <times
            exit 0
            """
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        let program = try SpawnedProgram(
            ["/bin/bash", "-c", script], in: folder.path, name: "openssl", environment: environment)
        let status = try await program.wait()
        guard status != 3 else { throw MissingProgram("openssl") }
        try #require(status == 0, "\(program.errors)")
        return examples.indices.map {
            FileManager.default.fileExists(atPath: folder.appending(path: "\($0).accepted").path)
        }
    }
}
