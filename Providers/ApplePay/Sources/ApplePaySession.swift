import Domain
public import FoundationEssentials
public import ProviderKit

/// Requests merchant sessions with mutual TLS, from the configured gateway and for the configured domain.
///
/// Source: Apple, Apple Pay on the Web, Requesting an Apple Pay Payment Session.
extension ApplePayProvider: MerchantSessionIssuing {
    private struct Request: Encodable {
        let merchantIdentifier: String
        let displayName: String
        let initiative = "web"
        let initiativeContext: String
    }

    /// The failure of a request for a merchant session.
    enum SessionFailure: Error, Equatable {
        case noIdentity
        /// The request did not reach Apple: no connection, or no agreement on TLS.
        case notSent
        case noAnswer
        case status(Int)
        case notJSON
    }

    private static let timeoutMilliseconds: Int64 = 10_000
    private static let sessionLimit = 64 << 10

    public var domain: String { settings.domain }
    public var domainAssociation: Data? { settings.domainAssociation }

    public func isKnown(validationURL: String) -> Bool { ApplePayGateway.isKnown(validationURL) }

    public func merchantSession() async throws(ProviderError) -> Data {
        do throws(SessionFailure) {
            return try await session()
        } catch {
            context.log.write(.warning, "apple pay: no merchant session", ["cause": "\(error)"])
            throw error == .noIdentity ? .rejected(reason: "no_merchant_identity") : .unavailable
        }
    }

    /// Repeats the request once after 417 and Apple's own errors, which are temporary; a session has no effect until it
    /// is used.
    func session() async throws(SessionFailure) -> Data {
        do throws(SessionFailure) { return try await ask() } catch {
            guard case .status(let status) = error, status == 417 || status >= 500 else { throw error }
        }
        return try await ask()
    }

    private func ask() async throws(SessionFailure) -> Data {
        guard let identity = trust.identity else { throw .noIdentity }
        let fields = Request(
            merchantIdentifier: settings.merchantIdentifier, displayName: settings.displayName,
            initiativeContext: settings.domain)
        guard let body = try? JSONText.encoded(fields) else { throw .noAnswer }
        let request = OutgoingRequest(
            method: "POST", url: settings.gateway + ApplePayGateway.path,
            headers: [(name: "Content-Type", value: "application/json"), (name: "Accept", value: "application/json")],
            body: body, timeoutMilliseconds: Self.timeoutMilliseconds, maxReplyBytes: Self.sessionLimit,
            identity: identity)
        let reply: IncomingReply
        do throws(HTTPTransportError) { reply = try await context.http.send(request) } catch {
            throw error == .notSent ? .notSent : .noAnswer
        }
        guard reply.status == 200 else { throw .status(reply.status) }
        // Only checked to be an object: its contents are for the browser.
        guard reply.body.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) == UInt8(ascii: "{"),
            (try? JSONDecoder().decode([String: AnyJSON].self, from: reply.body)) != nil
        else { throw .notJSON }
        return reply.body
    }

    /// Any value, which is not read.
    private struct AnyJSON: Decodable {
        init(from decoder: any Decoder) throws {}
    }
}
