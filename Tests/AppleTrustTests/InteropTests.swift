import AppleTrust
import Foundation
import TestSupport
import Testing

/// Apple's `app-store-server-library` for Python decides about the same JWS as we do.
@Suite("Apple's own library agrees")
struct InteropTests {
    @Test func `on hundreds of minted JWS, sound and faulty`() async throws {
        let verifier = TestVerifier.new()
        let cases = Self.cases
        #expect(cases.count >= 300)
        let verdicts = try await Self.ask(cases.map(\.text))
        try #require(verdicts.count == cases.count)
        var disagreements: [SignedTextCase.Difference: [String]] = [:]
        for (example, verdict) in zip(cases, verdicts) {
            let ours = TestVerifier.reason(example.text, verifier)
            let theirs = verdict == "accept"
            #expect(ours == example.reason, "\(example.name)")
            let difference: SignedTextCase.Difference? =
                (ours == nil) == theirs ? nil : theirs ? .itIsLaxer : .itIsStricter
            #expect(example.difference == difference, "\(example.name): we \(ours as Any), it \(verdict)")
            if let difference { disagreements[difference, default: []].append(example.name) }
        }
        let accepted = verdicts.count { $0 == "accept" }
        print(
            "interop: \(cases.count) JWS, the library accepts \(accepted); known differences:",
            "it is laxer \(disagreements[.itIsLaxer]?.count ?? 0), stricter \(disagreements[.itIsStricter]?.count ?? 0)"
        )
        #expect(accepted > 60)
        // About chains it differs from us in three known points only.
        let chains = Set(ChainCases.all.map(\.name))
        let differing = disagreements.values.joined().filter(chains.contains)
        #expect(
            Set(differing).isSubset(of: [
                "the leaf is a CA", "the leaf may not sign data", "the intermediate has no keyUsage",
            ]))
    }

    /// The tables of the other tests, sound ones of every sort, and flipped bits all over a sound one.
    private static var cases: [SignedTextCase] {
        var cases = HeaderCases.all + PayloadCases.all
        cases += ChainCases.all.filter { $0.name != "the root expired yesterday" }
        let types = ["Consumable", "Non-Consumable", "Non-Renewing Subscription", "Auto-Renewable Subscription"]
        for number in 0..<60 {
            let changes: [String: String?] = [
                "transactionId": "\"\(2_000_000_000_000_000 + number)\"", "type": "\"\(types[number % 4])\"",
                "environment": number % 3 == 0 ? "\"Sandbox\"" : "\"Production\"", "quantity": "\(number % 7 + 1)",
                "signedDate": "\(TestTime.now - Int64(number) * 10 * TestTime.day)", "price": "\(number * 990)",
                "offerType": number % 5 == 0 ? nil : "\(number % 5)", "isUpgraded": number % 2 == 0 ? nil : "true",
            ]
            cases.append(SignedTextCase("sound \(number)", TestJWS(payload: TestJWS.transaction.with(changes)), nil))
        }
        let sound = Array(TestJWS().text.utf8)
        for index in stride(from: 3, to: sound.count, by: sound.count / 90) {
            var flipped = sound
            flipped[index] ^= 1 << UInt8(index % 7)
            let text = String(decoding: flipped, as: UTF8.self)
            cases.append(
                SignedTextCase("bit flipped in byte \(index)", text, TestVerifier.reason(text) ?? .badSignature))
        }
        return cases
    }

    private static func ask(_ texts: [String]) async throws -> [String] {
        let root = FileManager.default.temporaryDirectory.appending(path: "root-\(UUID().uuidString).der")
        try Data(TestChain.root.der).write(to: root)
        defer { try? FileManager.default.removeItem(at: root) }
        let encoder = JSONEncoder()
        return try await InteropPython(peer: "app-store-server-library").lines(
            "interop.py", [root.path, "com.example.app", "Production", "Sandbox"],
            input: Data(texts.map { try encoder.encode($0) }.joined(separator: [0x0A])))
    }
}
