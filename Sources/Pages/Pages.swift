import Domain
package import Foundation
import Mustache

/// The pages that payers see, made from templates, texts and facts.
package struct Pages: Sendable {
    package let assets: Assets
    /// The icon that browsers show beside the title, in the ICO format.
    package let icon: Data
    let files: PageFiles
    let library: MustacheLibrary
    private let texts: [PageLocale: PageTexts]
    private let homeTexts: [PageLocale: PageTexts]
    /// The cashier's texts, with those of the portal over them.
    let portalTexts: [PageLocale: PageTexts]

    /// The templates that are not well formed, by name; none of the embedded ones is, which a test checks.
    package let faults: [String]

    /// - Parameter accent: the merchant's colour, `#` and six hexadecimal digits.
    package init(_ files: PageFiles, accent: String) {
        self.files = files
        assets = Assets(files, accent: accent)
        icon = files["Icons/favicon.ico"] ?? Data()
        var templates: [String: MustacheTemplate] = [:]
        var faults: [String] = []
        for path in files.paths where path.hasPrefix("Templates/") {
            let name = path.dropFirst("Templates/".count).prefix { $0 != "." }
            let text = String(decoding: files[path] ?? Data(), as: UTF8.self)
            do { templates[String(name)] = try MustacheTemplate(string: text) } catch { faults.append("\(name)") }
        }
        self.faults = faults
        library = MustacheLibrary(templates: templates)
        texts = Dictionary(uniqueKeysWithValues: PageLocale.allCases.map { ($0, PageTexts($0, files)) })
        homeTexts = Dictionary(
            uniqueKeysWithValues: PageLocale.allCases.map { ($0, PageTexts($0, files, of: "home")) })
        portalTexts = texts.reduce(into: [:]) { portal, entry in
            portal[entry.key] = entry.value.overlaid(with: PageTexts(entry.key, files, of: "portal"))
        }
    }

    var styles: [String] { ["sdk/tokens.css", "sdk/pay.css", "theme.css"].compactMap(assets.address) }

    /// Renders the page at `/` as HTML.
    package func render(_ frame: HomeFrame) -> String {
        guard let t = homeTexts[frame.locale] else { return "" }
        return library.render(frame.members(t, styles: styles), withTemplate: "home") ?? ""
    }

    /// Renders a page of the cashier as HTML.
    package func render(_ frame: CashierFrame) -> String {
        guard let t = texts[frame.locale] else { return "" }
        let cashier = CashierContext(frame: frame, t: t)
        let body = cashier.body
        let title = cashier.title(body.template, body.context)
        let own = frame.own
        let isWaiting = [.cashier(.qr), .cashier(.redirect), .cashier(.checking)].contains(frame.state)
        let members = context([
            "lang": frame.locale.rawValue,
            "title": t.fill("page_title", ["title": title, "shop": frame.branding.name]),
            "styles": styles,
            "module": own == nil ? nil : assets.address(of: "cashier/cashier.js"),
            "texts": own == nil ? nil : assets.address(of: "texts/\(frame.locale.rawValue).json"),
            "token": own?.token, "refresh": isWaiting && !hasEnded(frame), "test": frame.branding.test,
            "branding": branding(frame.branding), "address": own == nil ? nil : frame.address, "csrf": own?.csrf,
            "languages": own == nil ? [] : frame.locale.others, "main": cashier.main, "alert": cashier.alert,
            "live": cashier.live(body.template, title), "t": t.table, body.template: body.context,
        ])
        return library.render(members, withTemplate: "cashier") ?? ""
    }

    /// Renders the page of the App Store in a box.
    package func renderBox() -> String {
        let members = context([
            "styles": ["sdk/tokens.css", "theme.css", "appstore/page.css"].compactMap(assets.address),
            "module": assets.address(of: "appstore/page.js"),
        ])
        return library.render(members, withTemplate: "appstore") ?? ""
    }

    /// Returns true where the payment's time is over, so that nothing is waited for.
    private func hasEnded(_ frame: CashierFrame) -> Bool {
        frame.session?.contract?.expires_at.map { $0 <= frame.now } ?? false
    }

    func branding(_ branding: BrandingFacts) -> Context {
        context([
            "name": branding.name, "initial": branding.name.first.map(String.init) ?? "",
            "logo_url": branding.logo_url, "support_url": branding.support_url, "terms_url": branding.terms_url,
            "privacy_url": branding.privacy_url,
        ])
    }
}
