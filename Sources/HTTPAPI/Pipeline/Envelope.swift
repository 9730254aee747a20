import Domain
import FoundationEssentials
import Gateway
import HTTPTypes
import Hummingbird
import NIOCore

/// The envelope of every `/v1` answer (`docs/api.md` section 1).
enum Envelope {
    static func success(_ data: Data, requestID: String, extra: [HTTPField] = []) -> Response {
        var body = ByteBuffer()
        body.reserveCapacity(data.count + requestID.utf8.count + 64)
        body.writeStaticString(#"{"code":200,"data":"#)
        body.writeBytes(data)
        body.writeStaticString(#","msg":"success","request_id":""#)
        body.writeString(requestID)
        body.writeStaticString(#""}"#)
        return response(.ok, body, requestID: requestID, extra: extra)
    }

    static func failure(
        _ reply: ErrorReply, languages: [String], requestID: String, shape: Route.ErrorShape = .envelope
    ) -> Response {
        let json =
            switch shape {
            case .envelope, .verifyReceipt: enveloped(reply, languages, requestID)
            case .flat: flat(reply, languages)
            case .openIAP: openIAP(reply, languages)
            case .bare: bare(reply.id, reply.message(languages))
            }
        let body = json ?? Data(#"{"code":500,"error":"internal_error","msg":"","details":{}}"#.utf8)
        return Response(
            status: reply.status, headers: headers(of: reply, requestID: requestID),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// Makes the 403 of a route that only this machine may call.
    static func refused(_ refusal: LocalCallers.Refusal, languages: [String], requestID: String) -> Response {
        let reply = ErrorReply(
            status: .forbidden, id: ErrorID.forbidden.rawValue, english: refusal.english, chinese: refusal.chinese)
        return failure(reply, languages: languages, requestID: requestID, shape: .bare)
    }

    /// Returns the headers of a refusal.
    static func headers(of reply: ErrorReply, requestID: String) -> HTTPFields {
        let retry = reply.retryAfter.map { HTTPField(name: .retryAfter, value: String($0)) }
        let challenge = reply.challenge.map { HTTPField(name: .wwwAuthenticate, value: $0) }
        let allow = reply.allow.map { HTTPField(name: .allow, value: $0) }
        return headers(requestID: requestID, extra: [retry, challenge, allow].compactMap(\.self))
    }

    /// Returns a refusal's text before and after the request id, so that a frequent refusal is encoded only once.
    static func halves(_ reply: ErrorReply, language: String) -> (front: String, back: String)? {
        let place = "the-request-id"
        guard let json = enveloped(reply, [language], place) else { return nil }
        let text = String(decoding: json, as: UTF8.self)
        guard let range = text.firstRange(of: place) else { return nil }
        return (String(text[..<range.lowerBound]), String(text[range.upperBound...]))
    }

    /// Makes a refusal as Apple's `verifyReceipt` does: with HTTP status 200, except after too many requests and for a
    /// session's token.
    static func verifyReceipt(_ error: GatewayError, requestID: String) -> Response {
        let json = try? Answer.encode(VerifyReceiptBody(VerifyReceiptStatus(error)))
        let body = json ?? Data(#"{"status":21009}"#.utf8)
        let reply = ErrorReply(error)
        let retry = reply.retryAfter.map { [HTTPField(name: .retryAfter, value: String($0))] } ?? []
        // Apple has no `status` for too many requests and answers HTTP 429; nor for a token that is none of its own.
        let status: HTTPResponse.Status =
            [.tooManyRequests, .forbidden].contains(reply.status) ? reply.status : .ok
        return response(status, ByteBuffer(bytes: body), requestID: requestID, extra: retry)
    }

    private static func flat(_ reply: ErrorReply, _ languages: [String]) -> Data? {
        struct Body: Encodable {
            let success: Bool
            let error: String
            let message: String
        }
        return try? Answer.encode(Body(success: false, error: reply.id, message: reply.message(languages)))
    }

    private static func openIAP(_ reply: ErrorReply, _ languages: [String]) -> Data? {
        struct Body: Encodable {
            struct Fault: Encodable {
                let code: String
                let message: String
                /// The name of the wrong field; absent for other faults.
                let path: String?
            }

            let errors: [Fault]
        }
        let field: String? = if case .string(let field)? = reply.details["field"], !field.isEmpty { field } else { nil }
        return try? Answer.encode(
            Body(errors: [.init(code: reply.id, message: reply.message(languages), path: field)]))
    }

    /// Encodes a refusal of `/dev/appstore`.
    static func bare(_ id: String, _ message: String) -> Data? {
        struct Body: Encodable {
            let error: String
            let message: String
        }
        return try? Answer.encode(Body(error: id, message: message))
    }

    private static func enveloped(_ reply: ErrorReply, _ languages: [String], _ requestID: String) -> Data? {
        struct Body: Encodable {
            let code: Int
            let msg: String
            let error: String
            let details: [String: JSONValue]
            let request_id: String
        }
        let body = Body(
            code: reply.status.code, msg: reply.message(languages), error: reply.id, details: reply.details,
            request_id: requestID)
        return try? Answer.encode(body)
    }

    private static func response(
        _ status: HTTPResponse.Status, _ body: ByteBuffer, requestID: String, extra: [HTTPField]
    ) -> Response {
        Response(
            status: status, headers: headers(requestID: requestID, extra: extra), body: ResponseBody(byteBuffer: body))
    }

    private static func headers(requestID: String, extra: [HTTPField]) -> HTTPFields {
        // Appended, because setting a name looks it up in an index that is built for it.
        var headers: HTTPFields = [
            .contentType: "application/json; charset=utf-8", .cacheControl: "no-store", .requestID: requestID,
        ]
        for field in extra { headers[field.name] = field.value }
        return headers
    }
}
