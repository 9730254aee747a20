import Foundation
import TestSupport
import Testing

@Suite("The App Store in a box, served")
struct AppStoreBoxServerTests {
    private static let paths = ["", "/state", "/root.cer", "/key.p8", "/inApps/v1/transactions/1"]

    private static func send(
        _ installation: Installation, _ method: String, _ path: String, headers: [String: String] = [:],
        body: String = ""
    ) async throws -> LoopbackHTTP.Reply {
        try #require(
            await LoopbackHTTP.send(
                method, "/dev/appstore" + path, port: installation.port, headers: headers, body: body))
    }

    @Test
    func `the page and its parts load only from the server and run nothing inline`() async throws {
        let installation = try Installation(more: "development: {appstore: true}")
        try await installation.whileServing { _ in
            let reply = try await Self.send(installation, "GET", "")
            #expect(reply.status == 200)
            let head = reply.head.lowercased()
            #expect(head.contains("content-security-policy: default-src 'none'; script-src 'self'"))
            #expect(!head.contains("unsafe") && head.contains("x-content-type-options: nosniff"))
            let page = reply.body
            let files = page.matches(of: /(?:href|src)="(\/assets\/[^"]+)"/).map { String($0.output.1) }
            #expect(files.count == 4)
            for file in files {
                let reply = await LoopbackHTTP.send("GET", file, port: installation.port, headers: [:], body: "")
                #expect(try #require(reply).status == 200, "\(file)")
            }
            #expect(!page.contains("<style") && !page.contains(" style=") && !page.contains("javascript:"))
            #expect(page.matches(of: /<script/).count == page.matches(of: /<script type="module" src=/).count)
            #expect(page.firstMatch(of: /\son[a-z]+=/) == nil)
        }
    }

    @Test
    func `a customer is signed in by the app's user id, and foreign pages are refused`() async throws {
        let installation = try Installation(more: "development: {appstore: true}")
        try await installation.whileServing { _ in
            let json = ["Content-Type": "application/json"]
            let body = #"{"user_id":"alice"}"#
            let made = try await Self.send(installation, "POST", "/users", headers: json, body: body)
            #expect(made.status == 200)
            let fields = try #require(
                try JSONSerialization.jsonObject(with: Data(made.body.utf8)) as? [String: String])
            let token = try #require(fields["app_account_token"])
            let seen = try await Self.send(installation, "GET", "/users/\(token)")
            #expect(seen.status == 200 && seen.body.contains(#""user_id":"alice""#))
            let unknown = try await Self.send(installation, "GET", "/users/\(UUID().uuidString)")
            #expect(unknown.status == 404 && unknown.body.contains(#""error":"not_found""#))
            #expect(unknown.body.contains(#""message":"#) && !unknown.body.contains("request_id"))
            for headers in [
                ["Origin": "https://evil.example"], ["Origin": "null"], ["Content-Type": "text/plain"],
                ["Host": "evil.example"], ["Origin": "http://127.0.0.1:\(installation.port + 1)"],
            ] {
                let reply = try await Self.send(
                    installation, "POST", "/users", headers: json.merging(headers) { $1 }, body: body)
                #expect(reply.status == 403 && reply.body.contains(#""error":"forbidden""#), "\(headers)")
            }
        }
    }

    @Test
    func `a server that was not asked for it has none of it`() async throws {
        let installation = try Installation()
        try await installation.whileServing { _ in
            for part in Self.paths {
                let reply = try await Self.send(installation, "GET", part)
                #expect(reply.status == 404, "\(part)")
            }
        }
    }

    @Test
    func `its keys are made once, are sealed, and survive a kill`() async throws {
        let installation = try Installation(more: "development: {appstore: true}")
        var seen: Set<String> = []
        for _ in 0..<2 {
            let server = try await installation.serve()
            for file in ["/key.p8", "/key.json"] {
                let reply = try await Self.send(installation, "GET", file)
                #expect(reply.status == 200)
                seen.insert(reply.body)
            }
            let root = try await Self.send(installation, "GET", "/root.cer")
            #expect(root.status == 200 && root.head.lowercased().contains("content-type: application/pkix-cert"))
            let foreign = try await Self.send(installation, "GET", "/key.p8", headers: ["Host": "evil.example"])
            #expect(foreign.status == 403 && !foreign.body.contains("PRIVATE KEY"))
            server.send(SIGKILL)
            _ = try await server.wait()
        }
        #expect(seen.count == 2 && seen.contains { $0.hasPrefix("-----BEGIN PRIVATE KEY-----") })
        let file = try #require(FileManager.default.contents(atPath: installation.folder.path + "/var/paydesk.db"))
        #expect(file.firstRange(of: Data("PRIVATE KEY".utf8)) == nil)
    }
}
