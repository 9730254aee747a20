import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// A browser's session of the console: the headers of its calls.
struct ConsoleBrowser: Sendable {
    static let path = "/v1/admin/console/session"
    static let header = ["X-Paydesk-Console": "1"]

    let cookie: String
    var headers: [String: String] {
        Self.header.merging(["Cookie": "other=1; paydesk_console=\(cookie)"]) { $1 }
    }
}

// The console over HTTP.
extension Counter {
    /// Signs in with a key.
    func console(_ key: String) async throws -> ConsoleBrowser {
        let reply = try await post(ConsoleBrowser.path, nil, #"{"key":"\#(key)"}"#, headers: ConsoleBrowser.header)
        try #require(reply.status == 200, "\(reply)")
        let line = try #require(reply.header("Set-Cookie"))
        let value = try #require(line.split(separator: ";").first?.split(separator: "=").last)
        return ConsoleBrowser(cookie: String(value))
    }

    /// Calls as the console does.
    func send(
        _ method: HTTPRequest.Method, _ path: String, by browser: ConsoleBrowser, body: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Reply {
        try await send(method, path, nil, body: body, headers: browser.headers.merging(headers) { $1 })
    }
}
