import HTTPAPI
import Logging
import ProviderKit

/// Fetches the JWK set of `auth.jwks_url`.
struct KeySetFetch {
    enum Failure: Error, CustomStringConvertible {
        case unreachable(HTTPTransportError)
        case status(Int)
        case unusable

        var description: String {
            switch self {
            case .unreachable(let failure): "no answer (\(failure))"
            case .status(let status): "it answers \(status)"
            case .unusable: "its answer has no key that verifies tokens"
            }
        }
    }

    let address: String
    let transport: any HTTPTransport

    func text() async throws(Failure) -> String {
        let request = OutgoingRequest(method: "GET", url: address, timeoutMilliseconds: 5_000, maxReplyBytes: 256 << 10)
        let reply: IncomingReply
        do throws(HTTPTransportError) { reply = try await transport.send(request) } catch { throw .unreachable(error) }
        guard reply.status == 200 else { throw .status(reply.status) }
        let text = String(decoding: reply.body, as: UTF8.self)
        guard UserKeys.isUsable(set: text) else { throw .unusable }
        return text
    }

    /// Returns the set, or logs the failure and returns nil; without a set, no user of the app can be authenticated.
    func text(_ logger: Logger) async -> String? {
        do throws(Failure) { return try await text() } catch {
            logger.warning("auth.jwks_url gives no key set", metadata: ["reason": "\(error)"])
            return nil
        }
    }
}
