import AsyncHTTPClient
import Domain
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// Calls of a server's API, and of a developer's own server.
struct ServerClient: Sendable {
    /// The answer of an API call.
    enum Reply: Sendable {
        /// The `data` of the envelope.
        case data(JSONValue)
        case refused(status: UInt, error: String, message: String, retryAfter: Int64?)
        case unreachable(String)
    }

    private static let replyLimit = 16 << 20

    private let base: String
    private let key: String
    private let client: HTTPClient

    init(address: String, key: String) {
        base = address.hasSuffix("/") ? String(address.dropLast()) : address
        self.key = key
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = .seconds(5)
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    func close() async { try? await client.shutdown() }

    /// Calls a path of the API.
    ///
    /// - Parameters:
    ///   - query: the parameters, unescaped; those without a value are left out.
    ///   - seconds: the limit of the whole call.
    func get(_ path: String, _ query: KeyValuePairs<String, String?> = [:], within seconds: Int64 = 30) async -> Reply {
        let parameters = query.compactMap { name, value in value.map { "\(name)=\(PercentEncoding.encoded($0))" } }
        let address = base + path + (parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&"))
        var request = HTTPClientRequest(url: address)
        request.headers.add(name: "authorization", value: "Bearer \(key)")
        do {
            let response = try await client.execute(request, timeout: .seconds(seconds))
            let body = try await response.body.collect(upTo: Self.replyLimit)
            guard let envelope = try? JSONDecoder().decode(Envelope.self, from: Data(buffer: body)) else {
                return .refused(
                    status: response.status.code, error: "", message: "the answer is not Paydesk's", retryAfter: nil)
            }
            if response.status == .ok, let data = envelope.data { return .data(data) }
            return .refused(
                status: response.status.code, error: envelope.error ?? "", message: envelope.msg,
                retryAfter: response.headers.first(name: "retry-after").flatMap { Int64($0) })
        } catch {
            return .unreachable("\(base) does not answer: \(error)")
        }
    }

    private struct Envelope: Decodable {
        let msg: String
        let error: String?
        let data: JSONValue?
    }

    /// Posts a message to any address, and returns the status of the answer.
    ///
    /// - Throws: where no answer came.
    func post(_ message: SignedMessage, to address: String, within seconds: Int64) async throws -> Int {
        var request = HTTPClientRequest(url: address)
        request.method = .POST
        request.headers = HTTPHeaders(message.headers.map { ($0.name, $0.value) })
        request.body = .bytes(ByteBuffer(data: message.body))
        return Int(try await client.execute(request, timeout: .seconds(seconds)).status.code)
    }
}

/// A message with its headers, among them its signature.
struct SignedMessage: Sendable {
    let headers: [(name: String, value: String)]
    let body: Data
}

extension ServerClient.Reply {
    /// The data.
    ///
    /// - Throws: exit 1 with the server's own words.
    var value: JSONValue {
        get throws(CommandError) {
            switch self {
            case .data(let data): return data
            case .refused(let status, let error, let message, _):
                let id = error.isEmpty ? "" : " (\(error))"
                throw .checkFailed("paydesk: the server answered \(status)\(id): \(message)".shownOnOneLine)
            case .unreachable(let why): throw .checkFailed("paydesk: \(why)".shownOnOneLine)
            }
        }
    }
}
