import Domain
import Foundation
import Testing

@testable import Pages

private let pages = Pages(PageFiles(), accent: "#0a6cff")

@Suite("The page at /")
struct HomePageTests {
    private static func product(_ sku: String, _ name: String) throws -> ProductFacts {
        let json = """
            {"sku":"\(sku)","name":"\(name)","description":"","kind":"non_renewing","duration_days":30,"prices":[],
             "options":[],"owned":false}
            """
        return try JSONDecoder().decode(ProductFacts.self, from: Data(json.utf8))
    }

    private static func frame(_ locale: PageLocale, _ products: [(String, String, Int64)]) throws -> HomeFrame {
        var frame = HomeFrame(locale: locale)
        frame.development = HomeFrame.Development(
            address: "http://127.0.0.1:8080",
            products: try products.map { sku, name, value in
                (product: try product(sku, name), price: Money(value: value, currency: .cny))
            }, isNamed: true, isConnected: false)
        return frame
    }

    private static func check(_ html: String, _ locale: PageLocale) {
        #expect(html.contains(#"<html lang="\#(locale.rawValue)" data-page="home">"#))
        #expect(html.matches(of: /<h1\b/).count == 1 && html.matches(of: /<main\b/).count == 1)
        #expect(html.firstMatch(of: /\{[a-z_]+\}/) == nil && html.firstMatch(of: /\{\{|Optional\(/) == nil)
        #expect(html.firstMatch(of: /<script|<style|\sstyle=|\son[a-z]+=/) == nil)
        for action in ["docs", "console", "language"] { #expect(html.contains(#"data-action="\#(action)""#)) }
    }

    @Test(arguments: PageLocale.allCases)
    func `production shows the doors and nothing of itself`(_ locale: PageLocale) {
        let html = pages.render(HomeFrame(locale: locale))
        Self.check(html, locale)
        #expect(!html.contains("test-purchase") && !html.contains("data-test") && !html.contains("/dev/appstore"))
    }

    @Test(arguments: PageLocale.allCases)
    func `development offers a test purchase`(_ locale: PageLocale) throws {
        var frame = try Self.frame(
            locale, [("vip_month", "VIP", 3990), ("trial", #"<b>"x"</b>"#.filter { $0 != "\"" }, 0)])
        frame.hasBox = true
        frame.chosen = "trial"
        frame.alert = .forbidden
        let html = pages.render(frame)
        Self.check(html, locale)
        #expect(html.contains(#"<form method="post" action="/" data-action="test-purchase">"#))
        #expect(html.contains(#"<option value="vip_month">VIP · ¥39.90</option>"#))
        #expect(html.contains(#"<option value="trial" selected>&lt;b&gt;x&lt;/b&gt; · "#))
        #expect(html.contains(#"data-action="appstore""#) && html.contains(#"data-reason="forbidden""#))
    }

    @Test func `without a product there is nothing to press`() throws {
        let html = pages.render(try Self.frame(.english, []))
        #expect(html.contains("Nothing is on sale yet") && !html.contains("<select"))
    }

    @Test(arguments: [PageAlert.forbidden, .invalid, .conflict], PageLocale.allCases)
    func `every alert of the page has its words`(_ alert: PageAlert, _ locale: PageLocale) throws {
        var frame = try Self.frame(locale, [("vip_month", "VIP", 3990)])
        frame.alert = alert
        Self.check(pages.render(frame), locale)
    }
}
