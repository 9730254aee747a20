import Domain
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

/// A browser without scripts at the page of a session: its cookie and its forms.
struct Visitor: Sendable {
    let counter: Counter
    let session: JSONValue
    var agent = "Mozilla/5.0"

    var path: String {
        "/\(session.text("purpose") == "portal" ? "portal" : "pay")/s/\(session.text("id"))"
    }

    private var own: [String: String] {
        ["Cookie": "theme=dark; paydesk_session=\(session.text("token"))", "Accept": "text/html", "User-Agent": agent]
    }

    func get(_ more: String = "", headers: [String: String] = [:]) async throws -> Reply {
        try await counter.get(path + more, headers: own.merging(headers) { $1 })
    }

    func csrf() async throws -> String {
        let match = try await get().text.firstMatch(of: /name="csrf" value="([^"]+)"/)
        return String(try #require(match).output.1)
    }

    /// Posts a form of the page.
    ///
    /// - Parameters:
    ///   - below: the path below the session's own page.
    ///   - code: the form's code; nil for the page's own.
    func act(
        _ act: String, _ fields: [String: String] = [:], at below: String = "", code: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Reply {
        counter.desk.clock.tick()
        let code = if let code { code } else { try await csrf() }
        let form = fields.merging(["act": act, "csrf": code]) { $1 }.sorted { $0.key < $1.key }
        let allowed = CharacterSet.alphanumerics
        let text = form.map { "\($0.key)=\($0.value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")" }
        let given = [
            "Content-Type": "application/x-www-form-urlencoded", "Origin": "https://pay.example",
            "Sec-Fetch-Site": "same-origin",
        ]
        return try await counter.send(
            .post, path + below, body: text.joined(separator: "&"),
            headers: own.merging(given) { $1 }.merging(headers) { $1 }.filter { !$0.value.isEmpty })
    }
}

extension Reply {
    /// Returns a `data-` attribute of `<main>`.
    func main(_ name: String) throws -> String? {
        let tag = try #require(text.firstMatch(of: /<main\b[^>]*>/), "\(text.prefix(400))").output
        return tag.firstMatch(of: try Regex(#"\sdata-\#(name)="([^"]*)""#, as: (Substring, Substring).self))
            .map { String($0.output.1) }
    }

    var state: String? { get throws { try main("state") } }
}
