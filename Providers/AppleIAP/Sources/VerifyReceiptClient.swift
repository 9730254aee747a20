import Domain
import FoundationEssentials
import ProviderKit

/// Apple's deprecated verifyReceipt, called only where an account enables it.
///
/// Production is called first, and Sandbox where the answer states that the receipt is from there. Only TLS protects
/// the answers. Source: Apple, verifyReceipt.
struct VerifyReceiptClient: Sendable {
    private static let apple = (
        production: "https://buy.itunes.apple.com/verifyReceipt",
        sandbox: "https://sandbox.itunes.apple.com/verifyReceipt"
    )

    private let production: String
    /// The address of Sandbox; nil where one address serves both.
    private let sandbox: String?
    private let http: any HTTPTransport
    private let time: TimeSource

    /// - Parameter setting: `apple` or an address; the result is nil where it is empty.
    init?(_ setting: String, http: any HTTPTransport, time: TimeSource) {
        guard !setting.isEmpty else { return nil }
        production = setting == "apple" ? Self.apple.production : setting
        sandbox = setting == "apple" ? Self.apple.sandbox : nil
        self.http = http
        self.time = time
    }

    func ask(
        about receipt: StoreReceipt, text: String, secret: String?
    ) async throws(ReceiptConfirmationError) -> StoreAnswer {
        var answer = try await send(text, secret, to: production)
        if answer.status == 21_007, let sandbox { answer = try await send(text, secret, to: sandbox) }
        if answer.status == 21_008 { answer = try await send(text, secret, to: production) }
        try Self.check(answer)
        guard answer.bundleID == receipt.bundleID else {
            throw .store(.refused("verifyReceipt answered about another app"))
        }
        return answer.storeAnswer(to: receipt, now: time.milliseconds())
    }

    private func send(
        _ text: String, _ secret: String?, to address: String
    ) async throws(ReceiptConfirmationError) -> VerifyReceiptAnswer {
        struct Question: Encodable {
            let receiptData: String
            let password: String?
            let excludeOldTransactions = false

            private enum CodingKeys: String, CodingKey {
                case receiptData = "receipt-data", password, excludeOldTransactions = "exclude-old-transactions"
            }
        }
        guard let body = try? JSONEncoder().encode(Question(receiptData: text, password: secret)) else {
            throw .store(.refused("the receipt cannot be sent"))
        }
        let reply: IncomingReply
        do throws(HTTPTransportError) {
            reply = try await http.send(
                OutgoingRequest(
                    method: "POST", url: address,
                    headers: [
                        (name: "Content-Type", value: "application/json"), (name: "User-Agent", value: "paydesk"),
                    ],
                    body: body, timeoutMilliseconds: 10_000, maxReplyBytes: 8 << 20))
        } catch {
            throw .store(.retryable(after: nil))
        }
        guard reply.status == 200 else {
            throw .store(
                (500...599).contains(reply.status) || reply.status == 429
                    ? .retryable(after: nil) : .refused("verifyReceipt answered with HTTP status \(reply.status)"))
        }
        guard let answer = try? UnambiguousJSON.decode(VerifyReceiptAnswer.self, from: reply.body) else {
            throw .store(.retryable(after: nil))
        }
        return answer
    }

    /// Maps Apple's statuses other than success to errors.
    private static func check(_ answer: VerifyReceiptAnswer) throws(ReceiptConfirmationError) {
        switch answer.status {
        // 21006: the receipt is valid, and the subscription has expired.
        case 0, 21_006: return
        case 21_003, 21_010: throw .rejected(status: answer.status)
        case 21_002, 21_005, 21_009: throw .store(.retryable(after: nil))
        case 21_100...21_199 where answer.isRetryable: throw .store(.retryable(after: nil))
        case 21_004: throw .store(.refused("verifyReceipt answered 21004: the app's shared secret is wrong"))
        default: throw .store(.refused("verifyReceipt answered \(answer.status)"))
        }
    }
}
