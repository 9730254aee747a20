import Domain
import Foundation
import Gateway
import HTTPTypes
import Pages
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The documentation over HTTP")
struct DocumentationTests {
    @Test(arguments: [("en-US,en;q=0.9", "en"), ("zh-CN", "zh-Hans"), ("fr", "en")])
    func `the first page speaks the browser's language, under a policy of its own`(
        _ accepted: String, _ language: String
    ) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let page = try await counter.get("/docs", headers: ["Accept-Language": accepted])
            #expect(page.status == 200 && page.text.contains(#"<html lang="\#(language)" data-page="docs">"#))
            for (name, value) in [
                "Cache-Control": "no-cache", "Content-Type": "text/html; charset=utf-8", "X-Frame-Options": "DENY",
                "X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding, Accept-Language",
            ] { #expect(page.header(name) == value, "\(name)") }
            let policy = try #require(page.header("Content-Security-Policy"))
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "))
            #expect(!policy.contains("http") && !policy.contains("unsafe"))
            #expect(page.text.firstMatch(of: /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/) == nil)
            let addresses = page.text.matches(of: /"(\/assets\/[^"]+)"/).map { String($0.output.1) }
            // Three styles and the search.
            #expect(addresses.count == 4, "\(addresses)")
            for address in addresses { #expect(try await counter.get(address).status == 200, "\(address)") }
            let chosen = try await counter.get("/docs?lang=zh-Hans", headers: ["Accept-Language": accepted])
            #expect(chosen.text.contains(#"<html lang="zh-Hans""#))
        }
    }

    @Test func `a page is asked for again, and comes compressed`() async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let page = try await counter.get("/docs/en/api")
            let tag = try #require(page.header("ETag"))
            #expect(page.status == 200 && page.text.contains("<h1 id=\"the-http-api\">The HTTP API</h1>"))
            let again = try await counter.get("/docs/en/api", headers: ["If-None-Match": tag])
            #expect(again.status == 304 && again.text.isEmpty && again.header("ETag") == tag)
            let compressed = try await counter.get("/docs/en/api", headers: ["Accept-Encoding": "gzip"])
            #expect(compressed.header("Content-Encoding") == "gzip" && compressed.header("ETag") == tag)
            #expect(try await counter.get("/docs/zh-Hans/api").header("ETag") != tag)
            let script = try await counter.get("/docs/en/search.js")
            #expect(script.header("Content-Type") == "text/javascript; charset=utf-8")
            #expect(script.text.contains(#""/docs/en/reference-cashier#openCheckout""#))
            let picture = try await counter.get("/docs/files/cashier.png")
            #expect(picture.status == 200 && picture.header("Content-Type") == "image/png")
        }
    }

    @Test(arguments: ["/docs/fr", "/docs/en/nothing", "/docs/fr/api", "/docs/files/nothing.png", "/docs/files"])
    func `an unknown page is a page that says so`(_ path: String) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let page = try await counter.get(path)
            #expect(page.status == 404, "\(path)")
        }
    }

    @Test func `the reference has every call with its examples and errors, in both languages`() async throws {
        try await withCounter(on: .sqlite, .development) { counter in
            let document = OpenAPIDocument(counter.api.routes, version: "1.0.0")
            for locale in PageLocale.allCases {
                let all = try await counter.get("/docs/\(locale.rawValue)/reference").text
                for (part, listed) in zip(document.parts, APIReference(document).pages.dropFirst()) {
                    let id = listed.id
                    let page = try await counter.get("/docs/\(locale.rawValue)/\(id)").text
                    for route in part.routes {
                        #expect(all.contains("href=\"/docs/\(locale.rawValue)/\(id)#\(route.id)\""), "\(route.id)")
                        let section = try #require(Self.section(route.id, of: page), "\(route.id)")
                        #expect(section.contains("data-method=\"\(route.method.rawValue)\""))
                        #expect(section.contains("<code>\(route.path)</code>"), "\(route.id)")
                        #expect(section.contains("<code>curl"), "\(route.id)")
                        for error in route.refusals {
                            let link = "<a href=\"/docs/\(locale.rawValue)/errors#\(error.rawValue)\">"
                            #expect(section.contains(link), "\(route.id) \(error)")
                        }
                    }
                    // The method and the path stand in the contents at the side, too.
                    let first = part.routes[0]
                    let entry = "<li><a href=\"#\(first.id)\">\(first.method.rawValue) \(first.path)</a></li>"
                    #expect(page.contains(entry) == (page.matches(of: /<section class="call"/).count > 1), "\(id)")
                }
            }
        }
    }

    private static func section(_ id: String, of page: String) -> Substring? {
        guard let start = page.firstRange(of: "<section class=\"call\" id=\"\(id)\""),
            let end = page[start.upperBound...].firstRange(of: "</section>")
        else { return nil }
        return page[start.lowerBound..<end.lowerBound]
    }

    @Test func `every link and every section of the site is there`() async throws {
        try await withCounter(on: .sqlite, .development) { counter in
            let document = OpenAPIDocument(counter.api.routes, version: "1.0.0")
            let ids = APIReference(document).pages.map(\.id) + ["api", "overview"]
            var anchors: [String: Set<String>] = [:]
            var links: Set<[String]> = []
            for id in ids {
                let page = try await counter.get("/docs/en/\(id)")
                #expect(page.status == 200 && page.text.matches(of: /<h1\b/).count == 1, "\(id)")
                let own = page.text.matches(of: /\sid="([^"]+)"/).map { String($0.output.1) }
                #expect(Set(own).count == own.count, "\(id)")
                anchors[id] = Set(own)
                for match in page.text.matches(of: /href="(?:\/docs\/en\/([a-z0-9-]+))?#([^"]+)"/) {
                    links.insert([match.output.1.map(String.init) ?? id, String(match.output.2), id])
                }
            }
            try #require(links.count > 400)
            for link in links {
                guard let page = anchors[link[0]] else { continue }
                #expect(page.contains(link[1]), "\(link)")
            }
            let script = try await counter.get("/docs/en/search.js").text
            for match in script.matches(of: /"\/docs\/en\/([a-z0-9-]+)#([^"]+)"/) {
                guard let page = anchors[String(match.output.1)] else { continue }
                #expect(page.contains(String(match.output.2)), "\(match.output.0)")
            }
        }
    }

    @Test func `every error says what the app should do, in both languages`() {
        let all = ErrorID.allCases
        for locale in PageLocale.allCases {
            #expect(Set(all.map { $0.advice(in: locale) }).count == all.count)
        }
        for error in all {
            let (english, chinese) = (error.advice(in: .english), error.advice(in: .chinese))
            #expect(english.last == "." && chinese.last == "。", "\(error)")
            #expect(english.utf8.allSatisfy { $0 < 0x80 }, "\(error)")
            #expect(chinese.unicodeScalars.contains { (0x4E00...0x9FFF).contains($0.value) }, "\(error)")
            #expect(english.count(where: { $0 == "`" }).isMultiple(of: 2) && english.count <= 130, "\(error)")
        }
    }

    /// Calls, each with its line in a shell.
    static let calls: [(id: String, text: String)] = [
        (
            "openCheckout",
            """
            curl "$PAYDESK/v1/public/checkout" \\
              -H "Authorization: Bearer $TOKEN" \\
              -H "Idempotency-Key: $(date +%s)" \\
              -H "Content-Type: application/json" \\
              -d '{"currency": "CNY", "platform": "web", "sku": "vip_month"}'
            """
        ),
        ("checkHealth", "curl \"$PAYDESK/healthz\""),
    ]

    @Test(arguments: calls)
    func `a call is one command of a shell`(_ row: (id: String, text: String)) async throws {
        try await withCounter(on: .sqlite, .development) { counter in
            let route = try #require(counter.api.routes.first { $0.id == row.id })
            #expect(CurlExample.text(of: route) == row.text)
        }
    }

    @Test func `every example call fits its shape`() async throws {
        try await withCounter(on: .sqlite, .development) { counter in
            for route in counter.api.routes where route.description.tag != nil {
                let text = CurlExample.text(of: route)
                #expect(!text.contains("{\(route.parameterNames.first ?? "-")}"), "\(route.id)")
                // Quotes are closed.
                #expect(text.count(where: { $0 == "'" }).isMultiple(of: 2), "\(route.id)")
                let isKey = if case .key = route.access { true } else { false }
                let isConsole = route.description.tag?.name == Route.Tag.console.name
                #expect(text.contains("Bearer $KEY") == (isKey && !isConsole), "\(route.id)")
            }
        }
    }

    @Test func `an example is JSON for people`() throws {
        let list = JSONValue.array([.integer(1), .null, .bool(true), .number(1.5)])
        let text = String(repeating: "w", count: 70)
        let long = JSONValue.object(["b": list, "a": .string("x\"y/z"), "c": .string(text)])
        #expect(
            JSONExample.text(long) == """
                {
                  "a": "x\\"y/z",
                  "b": [1, null, true, 1.5],
                  "c": "\(text)"
                }
                """)
        #expect(JSONExample.text(.object(["b": .object([:]), "a": .array([])])) == #"{"a": [], "b": {}}"#)
    }
}
