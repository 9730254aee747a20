import AsyncHTTPClient
import Domain
import Foundation
import Gateway
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOSSL

/// One endpoint at the address that was checked.
struct OutgoingSession: WebhookSession {
    let url: String
    let client: HTTPClient
    let limits: WebhookLimits
    let release: @Sendable () async -> Void

    func close() async { await release() }

    /// Posts, and reads as little of the answer as the connection needs; what it says is dropped here.
    func post(_ message: WebhookMessage) async -> WebhookReply {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "user-agent", value: "Paydesk/\(Release.version)")
        for (name, value) in message.headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(ByteBuffer(data: message.body))
        return await withTaskGroup(of: WebhookReply.self) { group in
            group.addTask { [request] in await exchange(request) }
            group.addTask {
                try? await Task.sleep(for: .milliseconds(limits.totalMilliseconds))
                return .failed(.timeout)
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failed(.timeout)
        }
    }

    private func exchange(_ request: HTTPClientRequest) async -> WebhookReply {
        let response: HTTPClientResponse
        do {
            response = try await client.execute(request, timeout: .milliseconds(limits.totalMilliseconds))
        } catch {
            return .failed(Self.fault(error))
        }
        await drop(response.body)
        return .replied(
            status: Int(response.status.code), retryAfter: response.headers.first(name: "retry-after"))
    }

    /// Reads up to the limit, so that the connection can be used again; a longer or slower answer ends it.
    private func drop(_ body: HTTPClientResponse.Body) async {
        var left = limits.replyBytes
        do {
            for try await part in body {
                left -= part.readableBytes
                if left < 0 { return }
            }
        } catch {
            // The status is here: how the rest ended changes nothing.
        }
    }

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
