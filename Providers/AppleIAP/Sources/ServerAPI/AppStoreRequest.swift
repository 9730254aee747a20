import Domain
import FoundationEssentials
import ProviderKit

/// A request of the API before its address and its token are known.
struct AppStoreRequest: Sendable {
    let endpoint: AppStoreEndpoint
    let method: String
    /// Below the base URL, without a slash at its start; its parts are encoded.
    let path: String
    var query: [(name: String, value: String)] = []
    var body = Data()
    /// False where asking twice is not the same as asking once.
    var isRepeatable = true

    func outgoing(address: String, token: String) -> OutgoingRequest {
        let pairs = query.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }
        var headers = [
            (name: "Authorization", value: "Bearer \(token)"), (name: "Accept", value: "application/json"),
            (name: "User-Agent", value: "paydesk"),
        ]
        if !body.isEmpty { headers.append((name: "Content-Type", value: "application/json")) }
        return OutgoingRequest(
            method: method, url: "\(address)/\(path)" + (pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")),
            headers: headers, body: body, maxReplyBytes: endpoint.maxReplyBytes)
    }

    /// An id as a part of the path.
    ///
    /// - Throws: `invalidRequest` for anything that no id of Apple's looks like, so that none can lead elsewhere.
    static func id(_ text: String, _ name: String) throws(AppStoreServerError) -> String {
        guard (1...128).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy(\.isURLUnreserved)
        else { throw .invalidRequest("the \(name) is none") }
        return text
    }

    static func json(_ value: some Encodable) throws(AppStoreServerError) -> Data {
        guard let data = try? JSONText.encoded(value) else { throw .invalidRequest("it is no JSON") }
        return data
    }
}

extension Decodable {
    /// Reads a body; unknown fields are passed over.
    static func read(_ body: Data) throws(AppStoreAnswerDefect) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: body)
        } catch DecodingError.keyNotFound(let key, _) {
            throw AppStoreAnswerDefect("\(key.stringValue) is missing")
        } catch DecodingError.typeMismatch(_, let context) {
            throw AppStoreAnswerDefect("\(path(context)) is of another type")
        } catch DecodingError.valueNotFound(_, let context) {
            throw AppStoreAnswerDefect("\(path(context)) is null")
        } catch let DecodingError.dataCorrupted(context) where !context.codingPath.isEmpty {
            throw AppStoreAnswerDefect("\(path(context)) is malformed")
        } catch {
            throw AppStoreAnswerDefect(body.isEmpty ? "it is empty" : "it is no JSON")
        }
    }

    private static func path(_ context: DecodingError.Context) -> String {
        let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
        return path.isEmpty ? "the whole" : path
    }
}
