import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL
import Synchronization

/// An endpoint at its checked addresses; the first address that can be reached takes the messages.
final class OutgoingSession: WebhookSession {
    private struct State {
        /// The index of the address that was reached last.
        var preferred = 0
        var clients: [OutgoingWebhooks.Key: HTTPClient] = [:]
        /// The clients that were taken and must be released.
        var held: [OutgoingWebhooks.Key] = []
    }

    private enum Exchange {
        case ended(WebhookReply)
        /// The request was not sent.
        case unreachable(Delivery.Fault)
    }

    private let url: String
    private let keys: [OutgoingWebhooks.Key]
    private let limits: WebhookLimits
    private let clients: OutgoingWebhooks
    private let state = Mutex(State())

    init(url: String, keys: [OutgoingWebhooks.Key], limits: WebhookLimits, clients: OutgoingWebhooks) {
        self.url = url
        self.keys = keys
        self.limits = limits
        self.clients = clients
    }

    func close() async {
        for key in state.withLock({ $0.held }) { await clients.release(key) }
    }

    /// Posts a message, and reads as much of the answer as the connection's reuse needs; only its beginning is kept.
    func post(_ message: WebhookMessage) async -> WebhookReply {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "user-agent", value: "Paydesk/\(Release.version)")
        for (name, value) in message.headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(data: message.body))
        return await withTaskGroup(of: WebhookReply.self) { group in
            group.addTask { [request] in await self.dial(request) }
            group.addTask { [limits] in
                let total = Duration.milliseconds(limits.totalMilliseconds)
                try? await Task.sleep(for: min(message.limit ?? total, total))
                return .failed(.timeout)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed(.timeout)
        }
    }

    /// Tries the address that was reached last first, and the others only where no connection can be made.
    private func dial(_ request: HTTPClientRequest) async -> WebhookReply {
        let first = state.withLock { $0.preferred }
        var fault = Delivery.Fault.connection
        for step in keys.indices {
            let place = (first + step) % keys.count
            switch await exchange(request, at: keys[place]) {
            case .unreachable(let why): fault = why
            case .ended(let reply):
                state.withLock { $0.preferred = place }
                return reply
            }
            if Task.isCancelled { break }
        }
        return .failed(fault)
    }

    private func exchange(_ request: HTTPClientRequest, at key: OutgoingWebhooks.Key) async -> Exchange {
        let client = await client(key)
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: .milliseconds(limits.totalMilliseconds))
        } catch {
            let fault = Self.fault(error)
            return Self.isUnreachable(error) ? .unreachable(fault) : .ended(.failed(fault))
        }
        let body = await read(response.body)
        return .ended(
            .replied(
                status: Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"), body: body))
    }

    private func client(_ key: OutgoingWebhooks.Key) async -> HTTPClient {
        if let known = state.withLock({ $0.clients[key] }) { return known }
        let client = await clients.client(key)
        state.withLock { state in
            state.clients[key] = client
            state.held.append(key)
        }
        return client
    }

    /// Returns whether no connection was made, so that nothing was sent.
    private static func isUnreachable(_ error: any Error) -> Bool {
        if let error = error as? IOError {
            return [ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EADDRNOTAVAIL, EAFNOSUPPORT].contains(error.errnoCode)
        }
        return error as? HTTPClientError == .connectTimeout
    }

    /// Reads the body up to the limit, so that the connection can be used again; a longer or slower answer closes it.
    ///
    /// - Returns: its first 1,000 characters; nil for an empty one.
    private func read(_ body: HTTPClientResponse.Body) async -> String? {
        var (left, kept) = (limits.replyBytes, [UInt8]())
        do {
            for try await part in body {
                if kept.count < Self.keptBytes { kept += part.readableBytesView.prefix(Self.keptBytes - kept.count) }
                left -= part.readableBytes
                if left < 0 { break }
            }
        } catch {
            // The status has arrived, so the end of the body changes nothing.
        }
        let text = String(decoding: kept, as: UTF8.self).unicodeScalars.prefix(Self.keptScalars)
        return text.isEmpty ? nil : String(String.UnicodeScalarView(text))
    }

    private static let keptScalars = 1_000
    /// The bytes that as many characters of UTF-8 have at most.
    private static let keptBytes = 4 * keptScalars

    private static func fault(_ error: any Error) -> Delivery.Fault {
        if error is NIOSSLError || error is BoringSSLError { return .tls }
        guard let error = error as? HTTPClientError else { return .connection }
        switch error {
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .getConnectionFromPoolTimeout:
            return .timeout
        case .tlsHandshakeTimeout: return .tls
        default: return .connection
        }
    }
}
