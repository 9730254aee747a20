import AppleTrust
import Foundation
import Testing

/// Apple's `app-store-server-library` for Python decides about the same JWS as we do.
///
/// Set `APPLE_INTEROP_PYTHON` to an interpreter that has `Interop/requirements.txt`; otherwise `python3` is tried.
@Suite("Apple's own library agrees")
struct InteropTests {
    @Test func `on hundreds of minted JWS, sound and faulty`() throws {
        let verifier = MintVerifier.new()
        let cases = Self.cases
        #expect(cases.count >= 300)
        guard let verdicts = try Self.ask(cases.map(\.text)) else {
            print("SKIPPED: interop with app-store-server-library: no python3 that has it")
            return
        }
        try #require(verdicts.count == cases.count)
        var disagreements: [MintCase.Difference: [String]] = [:]
        for (example, verdict) in zip(cases, verdicts) {
            let ours = MintVerifier.reason(example.text, verifier)
            let theirs = verdict == "accept"
            #expect(ours == example.reason, "\(example.name)")
            let difference: MintCase.Difference? =
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
    private static var cases: [MintCase] {
        var cases = HeaderCases.all + PayloadCases.all
        cases += ChainCases.all.filter { $0.name != "the root expired yesterday" }
        let types = ["Consumable", "Non-Consumable", "Non-Renewing Subscription", "Auto-Renewable Subscription"]
        for number in 0..<60 {
            let changes: [String: String?] = [
                "transactionId": "\"\(2_000_000_000_000_000 + number)\"", "type": "\"\(types[number % 4])\"",
                "environment": number % 3 == 0 ? "\"Sandbox\"" : "\"Production\"", "quantity": "\(number % 7 + 1)",
                "signedDate": "\(MintTime.now - Int64(number) * 10 * MintTime.day)", "price": "\(number * 990)",
                "offerType": number % 5 == 0 ? nil : "\(number % 5)", "isUpgraded": number % 2 == 0 ? nil : "true",
            ]
            cases.append(MintCase("sound \(number)", MintJWS(payload: MintJWS.transaction.with(changes)), nil))
        }
        let sound = Array(MintJWS().text.utf8)
        for index in stride(from: 3, to: sound.count, by: sound.count / 90) {
            var flipped = sound
            flipped[index] ^= 1 << UInt8(index % 7)
            let text = String(decoding: flipped, as: UTF8.self)
            cases.append(
                MintCase("bit flipped in byte \(index)", text, MintVerifier.reason(text) ?? .badSignature))
        }
        return cases
    }

    /// - Returns: nil where no interpreter has the library.
    private static func ask(_ texts: [String]) throws -> [String]? {
        let folder = FileManager.default.temporaryDirectory.appending(path: "apple-interop-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (root, input, output) = (
            folder.appending(path: "root.der"), folder.appending(path: "in"), folder.appending(path: "out")
        )
        try Data(MintChain.root.der).write(to: root)
        let encoder = JSONEncoder()
        try Data(texts.map { try encoder.encode($0) }.joined(separator: [0x0A])).write(to: input)
        try Data().write(to: output)
        let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Interop/interop.py")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            ProcessInfo.processInfo.environment["APPLE_INTEROP_PYTHON"] ?? "python3", script.path, root.path,
            "com.example.app", "Production", "Sandbox",
        ]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            // 3: no library; 127: no interpreter. Anything else is a failure of the script.
            #expect([3, 127].contains(process.terminationStatus))
            return nil
        }
        return try String(contentsOf: output, encoding: .utf8).split(separator: "\n").map(String.init)
    }
}
