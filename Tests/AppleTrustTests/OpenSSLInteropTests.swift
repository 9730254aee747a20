import Foundation
import TestSupport
import Testing

@testable import AppleTrust

/// `openssl cms -verify` decides about the same receipts as we do, and finds the same content in them.
///
/// It verifies at the creation date, for any purpose, and takes SHA-1, as receipts need it. It knows nothing of
/// Apple's markers, of apps and environments, and takes any number of signers: those cases are marked as ours alone,
/// and fail here where it does not differ.
@Suite("OpenSSL agrees")
struct OpenSSLInteropTests {
    @Test func `on hundreds of minted receipts, sound and faulty`() async throws {
        let cases = ReceiptSoundCases.all + ReceiptFaultCases.all + ReceiptMessageCases.all + Self.flipped
        let verdicts = try await Self.ask(cases)
        try #require(verdicts.count == cases.count)
        var agreeing: [Bool: Int] = [:]
        for (example, verdict) in zip(cases, verdicts) {
            let ours = ReceiptCase.reason(example.text)
            let theirs = verdict.content != nil
            #expect(ours == example.reason, "\(example.name)")
            let difference: ReceiptCase.OpenSSL =
                (ours == nil) == theirs ? .agrees : theirs ? .isLaxer : .isStricter
            #expect(difference == example.openSSL, "\(example.name): \(verdict.errors)")
            if difference == .agrees { agreeing[theirs, default: 0] += 1 }
            guard ours == nil, let content = verdict.content else { continue }
            #expect(try SignedData(example.bytes[...]).content.map(Array.init) == content, "\(example.name)")
        }
        let (accepted, refused) = (agreeing[true] ?? 0, agreeing[false] ?? 0)
        print(
            "interop: \(cases.count) receipts; OpenSSL accepts \(accepted) and refuses \(refused) as we do,",
            "accepts \(cases.count { $0.openSSL == .isLaxer }) that are ours alone to refuse,",
            "refuses \(cases.count { $0.openSSL == .isStricter }) that we accept")
        #expect(accepted >= 60 && refused >= 60)
        // Markers and the number of signers are not looked at by it.
        let laxer = Set(cases.filter { $0.openSSL == .isLaxer }.map(\.name))
        #expect(
            laxer.isSuperset(
                of: ReceiptFaultCases.purposes.map(\.name).filter { $0.contains("marker") && !$0.contains("ended") }))
        #expect(laxer.contains("the signer twice") && laxer.contains("a second signer over the other digest"))
    }

    /// A bit flipped in what is signed, in the signature, or in the leaf.
    private static var flipped: [ReceiptCase] {
        let receipt = TestReceipt()
        let sound = receipt.bytes
        let parts = [
            ("content", receipt.content), ("leaf", receipt.chain.leaf.der), ("signature", Array(sound.suffix(256))),
        ]
        return parts.flatMap { name, part in
            let start = sound.firstRange(of: part)?.lowerBound ?? 0
            return stride(from: 9, to: part.count, by: part.count / 20).map { offset in
                var bytes = sound
                bytes[start + offset] ^= 1 << UInt8(offset % 8)
                return ReceiptCase(
                    "bit flipped in byte \(offset) of the \(name)", bytes,
                    ReceiptCase.reason(bytes.base64) ?? .badSignature)
            }
        }
    }

    private struct Verdict {
        /// Nil where it was refused.
        let content: [UInt8]?
        let errors: String
    }

    /// - Throws: ``MissingProgram`` where there is no OpenSSL.
    private static func ask(_ cases: [ReceiptCase]) async throws -> [Verdict] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "openssl-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let roots = TestReceiptChain.trusted.map { root in
            let lines = Data(root.der).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"
        }
        try Data(roots.joined().utf8).write(to: folder.appending(path: "roots.pem"))
        for (index, example) in cases.enumerated() {
            try Data(example.bytes).write(to: folder.appending(path: "\(index).der"))
        }
        let times = cases.enumerated().map { "\($0) \($1.time / 1_000)\n" }.joined()
        try Data(times.utf8).write(to: folder.appending(path: "times"))
        let script = """
            command -v openssl >/dev/null || exit 3
            while read -r index time; do
                openssl cms -verify -inform DER -in "$index.der" -CAfile roots.pem -attime "$time" -purpose any \\
                    -auth_level 0 -binary -out "$index.content" 2>"$index.errors" && touch "$index.accepted"
            done <times
            exit 0
            """
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        let program = try SpawnedProgram(
            ["/bin/bash", "-c", script], in: folder.path, name: "openssl", environment: environment)
        let status = try await program.wait()
        guard status != 3 else { throw MissingProgram("openssl") }
        try #require(status == 0, "\(program.errors)")
        return try cases.indices.map { index in
            let file = { (suffix: String) in folder.appending(path: "\(index).\(suffix)") }
            let isAccepted = FileManager.default.fileExists(atPath: file("accepted").path)
            return Verdict(
                content: isAccepted ? Array(try Data(contentsOf: file("content"))) : nil,
                errors: (try? String(contentsOf: file("errors"), encoding: .utf8)) ?? "")
        }
    }
}
