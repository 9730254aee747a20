import Foundation
import Mustache

/// The facts of the console's page, which holds no data of the shop.
package struct ConsoleFrame: Sendable {
    package let locale: PageLocale
    /// The shop's name.
    package let name: String
    package let version: String
    package let isDevelopment: Bool

    package init(locale: PageLocale, name: String, version: String, isDevelopment: Bool) {
        self.locale = locale
        self.name = name
        self.version = version
        self.isDevelopment = isDevelopment
    }
}

extension Pages {
    /// Renders the console's page as HTML.
    package func render(_ frame: ConsoleFrame) -> String {
        let texts = PageLocale.allCases.map { locale in
            context([
                "lang": locale.rawValue, "address": assets.address(of: "console/\(locale.rawValue).json"),
            ])
        }
        let words = PageTexts(console: frame.locale, files)
        let members = context([
            "lang": frame.locale.rawValue, "title": "Paydesk", "script": words["needs_script"],
            "styles": ["sdk/tokens.css", "console/console.css", "theme.css"].compactMap(assets.address),
            "module": assets.address(of: "console/main.js"), "texts": texts, "name": frame.name,
            "version": frame.version, "test": frame.isDevelopment,
        ])
        return library.render(members, withTemplate: "console") ?? ""
    }
}

extension PageTexts {
    /// Reads the console's table, `Sources/Pages/Assets/console`.
    init(console locale: PageLocale, _ files: PageFiles) {
        self.init(files["Assets/console/\(locale.rawValue).json"])
    }
}
