import Crypto
import Foundation
import ProviderKit
import TestSupport

/// A payment service that the server reaches over the network only, as a plugin (Providers/Remote/openapi.yaml).
///
/// It carries out every call, but the answer of every 13th call about a payment is lost.
struct PaymentService: Sendable {
    static let secret = "whsec_" + key.base64EncodedString()
    private static let key = Data(repeating: 0x5A, count: 32)
    /// The answer to every 13th call is lost on its way.
    private static let lossEvery = 13

    let book = PaymentBook()
    private let server: FakeHTTPServer

    /// The base URL of the protocol's calls, without the slash at its end.
    var url: String { server.base + Self.path.dropLast() }

    private static let path = "/v1/"

    init() throws {
        server = try FakeHTTPServer { [book] in Self.answer($0, book) }
    }

    func stop() { server.stop() }

    /// The notification of a payment's success, signed as the protocol demands.
    ///
    /// - Parameter event: the `webhook-id`, by which the server recognizes a repetition.
    func notification(_ event: String, _ order: OpenedOrder) throws -> Request {
        let payment = PaymentBook.Standing(payment: order.payment, status: "succeeded", amount: order.amount)
        let body = try JSONEncoder().encode(Notice(payment: payment))
        var headers = ["Content-Type": "application/json"]
        for header in Self.seal(body, id: event) { headers[header.name] = header.value }
        return Request(
            method: "POST", path: "/v1/notify/\(Configuration.serviceToken)", headers: headers,
            body: String(decoding: body, as: UTF8.self))
    }

    private struct Notice: Encodable {
        let type = "payment"
        let payment: PaymentBook.Standing
    }

    private static func answer(_ request: OutgoingRequest, _ book: PaymentBook) -> IncomingReply {
        let call = request.url.components(separatedBy: path).last ?? ""
        let answer = call == "manifest" ? (said: .manifest, number: 1) : book.answer(call, request.body)
        guard let answer, let body = try? JSONEncoder().encode(answer.said) else { return IncomingReply(status: 400) }
        // As if a proxy on the way had lost the answer: the service has already done what it was asked.
        if answer.number.isMultiple(of: lossEvery) { return IncomingReply(status: 502) }
        let id = request.headers.first { $0.name == "webhook-id" }?.value ?? ""
        return IncomingReply(status: 200, headers: seal(body, id: "re_\(id)"), body: body)
    }

    /// The headers that sign a message by Standard Webhooks: id, time and HMAC-SHA256.
    private static func seal(_ body: Data, id: String) -> [(name: String, value: String)] {
        let time = String(Int64(Date().timeIntervalSince1970))
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(id).\(time).".utf8) + body, using: SymmetricKey(data: key))
        return [
            (name: "webhook-id", value: id), (name: "webhook-timestamp", value: time),
            (name: "webhook-signature", value: "v1,\(Data(code).base64EncodedString())"),
        ]
    }
}
