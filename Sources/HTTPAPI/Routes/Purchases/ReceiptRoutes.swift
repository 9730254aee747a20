import Crypto
import Domain
import Foundation
import Gateway
import HTTPTypes

/// The route of `verifyReceipt` in the form of Apple's, for clients that still send receipts (`docs/api.md` section 7).
struct ReceiptRoutes {
    static let path = "/validate-receipt"
    let gateway: Gateway

    /// The rate limit of callers without a user, by shared secret, which apps contain.
    let limiter: RateLimiter
    let guesses: GuessLimiter

    /// The number of signatures in a receipt: its own and those of its two certificates.
    static let signatures: Int64 = 3

    var routes: [Route] {
        let others: [(id: String, method: HTTPRequest.Method)] = [
            ("refuseReceiptGet", .get), ("refuseReceiptPut", .put), ("refuseReceiptPatch", .patch),
            ("refuseReceiptDelete", .delete),
        ]
        return [
            Route(
                "validateReceipt", .post, Self.path, .userOrAnyone, .compatible, "Apple's verifyReceipt",
                note: """
                    With a user's token it attaches the purchases; without one it needs the right `password`, and only \
                    reports. Every refusal is a `status` too, with HTTP status 200, or 429 for too many questions.
                    """, body: .json(.receiptQuestion), bodyLimit: 2 << 20,
                answers: .json(.oneOf([.receiptReport, .receiptRefusal])),
                or: [
                    Route.Other(
                        status: 429, note: "Too many questions or wrong secrets: `status` 21005.",
                        mediaType: "application/json", shape: .receiptRefusal),
                    Route.Other(
                        status: 403, note: "A session's token: `status` 21004.", mediaType: "application/json",
                        shape: .receiptRefusal),
                ], idempotency: .ignored, errors: .verifyReceipt
            ) { (call) async throws(GatewayError) in try await validate(call) }
        ]
            + others.map { id, method in
                Route(
                    id, method, Self.path, .anyone, .compatible,
                    "A \(method.rawValue) is refused with `status` 21000, as Apple does",
                    note: "A receipt comes by POST.",
                    answers: .json(.receiptRefusal), idempotency: .ignored, errors: .verifyReceipt
                ) { (_) async throws(GatewayError) in try Self.answer(VerifyReceiptBody(.notPost)) }
            }
    }

    private func validate(_ call: Call) async throws(GatewayError) -> Answer {
        let fields = try call.decode(Fields.self)
        var user: ExternalUserID?
        if case .user(let known) = call.caller {
            user = known
            try call.charge(Self.signatures)
        } else if let wait = limiter.take(Self.digest(fields.password ?? ""), Self.signatures) {
            throw .rateLimited(retryAfter: max(1, wait))
        }
        let answer: ReceiptAnswer
        do throws(GatewayError) {
            answer = try await gateway.receipts.validate(
                fields.receiptData, password: fields.password,
                newestOnly: fields.excludeOldTransactions?.value ?? false, user: user, context: call.context)
        } catch .unauthenticated {
            throw guesses.refusal(.unauthenticated, from: call.from.address(call.request.headerFields))
        }
        switch answer {
        case .status(let status): return try Self.answer(VerifyReceiptBody(VerifyReceiptStatus(rawValue: status)))
        case .report(let report): return try Self.answer(VerifyReceiptBody(report))
        }
    }

    private static func digest(_ secret: String) -> String {
        "receipts/" + Data(SHA256.hash(data: Data(secret.utf8))).base64EncodedString()
    }

    private static func answer(_ body: VerifyReceiptBody) throws(GatewayError) -> Answer {
        .raw(
            status: .ok, contentType: "application/json; charset=utf-8", body: try Answer.encode(body),
            headers: [HTTPField(name: .cacheControl, value: "no-store")])
    }

    /// A boolean, which older clients send as text.
    private struct Flag: Decodable {
        let value: Bool

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            guard let text = try? container.decode(String.self) else {
                value = try container.decode(Bool.self)
                return
            }
            switch text.lowercased() {
            case "true", "1": value = true
            case "false", "0", "": value = false
            default:
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither true nor false")
            }
        }
    }

    private struct Fields: Decodable {
        let receiptData: String
        let password: String?
        let excludeOldTransactions: Flag?

        private enum CodingKeys: String, CodingKey {
            case receiptData = "receipt-data", password, excludeOldTransactions = "exclude-old-transactions"
        }
    }
}
