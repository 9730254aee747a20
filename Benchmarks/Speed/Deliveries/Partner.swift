import Foundation
import TestSupport

/// A partner with an API key, which makes webhooks at a running server.
struct Partner: Sendable {
    let port: UInt16
    let key: String

    private struct Key: Decodable { let key: String }
    private struct Made: Decodable {
        struct Webhook: Decodable { let id: String }
        let data: Webhook
    }

    /// Makes an API key by the command line.
    init(_ bench: Workbench, at installation: Installation) async throws {
        let text = try await bench.run(
            [bench.paydesk, "keys", "create", "--name", "bench", "--scopes", "admin", "--json"], name: "keys",
            in: installation.folder)
        key = try JSONDecoder().decode(Key.self, from: Data(text.utf8)).key
        port = installation.port
    }

    /// - Returns: the webhook's id.
    func makeWebhook(_ url: String, types: [String] = []) async throws -> String {
        let list = types.map { "\"\($0)\"" }.joined(separator: ",")
        let body = try await send("POST", "/v1/partner/webhooks", #"{"url":"\#(url)","types":[\#(list)]}"#)
        return try JSONDecoder().decode(Made.self, from: Data(body.utf8)).data.id
    }

    func setWebhook(_ id: String, isEnabled: Bool) async throws {
        _ = try await send(
            "PATCH", "/v1/partner/webhooks/\(id)", #"{"status":"\#(isEnabled ? "enabled" : "disabled")"}"#)
    }

    private func send(_ method: String, _ path: String, _ body: String) async throws -> String {
        let reply = await LoopbackHTTP.send(
            method, path, port: port, headers: ["Authorization": "Bearer \(key)"], body: body)
        guard let reply, reply.status == 200 else {
            throw BenchFailure(description: "\(method) \(path) is answered \(reply?.body ?? "not at all")")
        }
        return reply.body
    }
}
