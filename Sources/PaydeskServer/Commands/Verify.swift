import ArgumentParser
import Foundation
import ProviderKit

/// The body with which Apple posts a notification.
private struct PostedNotification: Decodable {
    let signedPayload: String
}

/// `paydesk verify`.
struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says what signed evidence of a purchase is, and how each check of it ends. It opens no database.",
        discussion: """
            A JWS, a notification as Apple posts it, or an app receipt: as text, or the receipt's own file in DER or BER.
            """)

    @OptionGroup var common: CommonOptions
    @Argument(help: "A file, or - for standard input.") var file: String
    @Flag(help: "Prints JSON.") var json = false

    private static let limit = 2 << 20

    func run() async throws {
        let configuration = try Configuration.load(common.config, providers: CommandLineTool.providers)
        let registry = try configuration.registry(CommandLineTool.providers, transport: NoTransport()) { _ in NoBook() }
        let text = try read()
        let verifiers = registry.accounts.compactMap { $0.provider as? any PurchaseVerifying }
        guard let first = verifiers.first else {
            throw CommandError.usage("paydesk: no account in providers/ verifies store purchases")
        }
        let explanations = verifiers.map { $0.explain(text) }
        let shown = explanations.first(where: \.verifies) ?? first.explain(text)
        if json {
            print(try JSONText.make(shown))
        } else {
            show(shown)
        }
        guard shown.verifies else { throw CommandError.checkFailed("paydesk: it does not verify") }
    }

    private func read() throws(CommandError) -> String {
        let handle = file == "-" ? FileHandle.standardInput : FileHandle(forReadingAtPath: file)
        let data: Data
        do {
            // Nothing at all is read as nil.
            guard let handle else { throw CocoaError(.fileReadNoSuchFile) }
            data = try handle.read(upToCount: Self.limit + 1) ?? Data()
        } catch {
            throw .usage("paydesk: \(file) cannot be read")
        }
        guard data.count <= Self.limit else { throw .checkFailed("paydesk: \(file) is larger than 2 MiB") }
        // A receipt's own bytes are an ASN.1 SEQUENCE; text that starts with this digit is nothing that is known here.
        guard data.first != 0x30 else { return data.base64EncodedString() }
        if data.first == UInt8(ascii: "{"), let posted = try? JSONDecoder().decode(PostedNotification.self, from: data)
        {
            return posted.signedPayload
        }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }

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
    }
}
