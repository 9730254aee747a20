import ArgumentParser
import Domain
import Foundation
import ProviderKit

/// The body of Apple's notification requests.
private struct PostedNotification: Decodable {
    let signedPayload: String
}

/// `paydesk verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verifies signed evidence of a purchase and prints the result of each check. It uses no database.",
        discussion: """
            The evidence is a JWS, a notification as Apple posts it, or an app receipt, as text or in DER or BER. An Apple
            Pay token must be as the client sent it; it has to be signed within the last five minutes, and is not decrypted.
            The last line is the server's decision: accepted, or refused with the check and the reason.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "A file, or - for standard input.") var file: String
    @Flag(help: "Prints JSON.") var json = false

    private static let limit = 2 << 20
    private static let notification = "notification"

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let registry = try configuration.registry(CommandLineTool.providers, transport: NoTransport()) { _ in NoBook() }
        let text = try read()
        // A disabled account still receives notifications, and nothing else.
        let judges = registry.accounts.compactMap { account in
            (account.provider as? any EvidenceExplaining).map { (judge: $0, isOn: account.enabled) }
        }
        let fitting = judges.filter { $0.judge.recognizes(text) }
        let explanations = (fitting.isEmpty ? judges : fitting).map { (said: $0.judge.explain(text), isOn: $0.isOn) }
        let answering = explanations.filter { $0.isOn || $0.said.kind == Self.notification }.map(\.said)
        // If no account accepts the evidence, the account that passed most checks explains it.
        let furthest = (answering.isEmpty ? explanations.map(\.said) : answering).max { $0.passed < $1.passed }
        guard let shown = answering.first(where: \.verifies) ?? furthest else {
            throw CommandError.usage("paydesk: no account in providers/ verifies store purchases or payment tokens")
        }
        if json {
            print(try JSONText.line(shown))
        } else {
            show(shown)
        }
        guard !answering.isEmpty, shown.verifies else { throw CommandError.checkFailed("paydesk: it does not verify") }
    }

    private func read() throws(CommandError) -> String {
        let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        let data: Data
        do {
            // Reading an empty input returns nil.
            guard let handle else { throw CocoaError(.fileReadNoSuchFile) }
            data = try handle.read(upToCount: Self.limit + 1) ?? Data()
        } catch {
            throw .usage("paydesk: \(file) cannot be read")
        }
        guard data.count <= Self.limit else { throw .checkFailed("paydesk: \(file) is larger than 2 MiB") }
        // A receipt in DER begins with the tag of a SEQUENCE; no text form begins with that character, "0".
        guard data.first != 0x30 else { return data.base64EncodedString() }
        if let posted = try? JSONDecoder().decode(PostedNotification.self, from: data) { return posted.signedPayload }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Prints an explanation for a person.
    private func show(_ explanation: EvidenceExplanation) {
        print("This is: \(explanation.kind)")
        for check in explanation.checks {
            let word =
                switch check.outcome {
                case .passed: "ok  "
                case .failed: "FAIL"
                case .notReached: "-   "
                }
            print("\(word) \(check.name)\(check.why.isEmpty ? "" : ": \(check.why)")")
        }
        for fact in explanation.facts { print("     \(fact.name): \(fact.value)") }
        print(explanation.verdict)
    }
}

extension EvidenceExplanation {
    fileprivate var passed: Int { checks.count { $0.outcome == .passed } }
}
