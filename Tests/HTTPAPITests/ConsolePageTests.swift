import Foundation
import Gateway
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("The console's page")
struct ConsolePageTests {
    @Test(arguments: [("en-US,en;q=0.9", "en"), ("zh-CN", "zh-Hans"), ("fr", "en")])
    func `it holds no data, and its files are served`(_ accepted: String, _ language: String) async throws {
        try await withCounter(on: .sqlite, .cny) { counter in
            let page = try await counter.get("/console", headers: ["Accept-Language": accepted])
            #expect(page.status == 200 && page.text.contains(#"<html lang="\#(language)" data-page="console">"#))
            let policy = page.header("Content-Security-Policy") ?? ""
            #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self'"))
            #expect(policy.contains("require-trusted-types-for 'script'") && !policy.contains("http"))
            for (name, value) in [
                "Cache-Control": "no-store", "X-Frame-Options": "DENY", "Cross-Origin-Opener-Policy": "same-origin",
                "Permissions-Policy": "payment=()", "Content-Type": "text/html; charset=utf-8",
            ] { #expect(page.header(name) == value, "\(name)") }
            #expect(page.header("Set-Cookie") == nil)
            #expect(page.text.firstMatch(of: /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=/) == nil)
            let addresses = page.text.matches(of: /"(\/assets\/[^"]+)"/).map { String($0.output.1) }
            // Three styles, the module, and a table of texts for each language.
            #expect(addresses.count == 6, "\(addresses)")
            for address in addresses { #expect(try await counter.get(address).status == 200, "\(address)") }
        }
    }
}
