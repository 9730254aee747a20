package import Foundation
import Mustache

/// The text of a page of the documentation.
package struct DocsArticle: Sendable {
    /// A heading, and the text below it for the search.
    package struct Section: Sendable {
        package let level: Int
        /// The fragment of the page's address.
        package let anchor: String
        package let title: String
        package let text: String

        package init(level: Int, anchor: String, title: String, text: String) {
            self.level = level
            self.anchor = anchor
            self.title = title
            self.text = text
        }
    }

    package let language: PageLocale
    package let html: String
    package let sections: [Section]

    package init(language: PageLocale, html: String, sections: [Section]) {
        self.language = language
        self.html = html
        self.sections = sections
    }
}

/// The pages of the API's reference, which are made from the routes.
package protocol DocsReference: Sendable {
    /// The ids of its pages, in their order, each with the key of its title.
    var pages: [(id: String, key: String)] { get }

    /// Makes a page.
    ///
    /// - Returns: nil for an unknown id.
    func article(_ id: String, in locale: PageLocale, _ words: DocsWords) -> DocsArticle?
}

/// The texts of the documentation around its pages, in one language.
package struct DocsWords: Sendable {
    private let texts: PageTexts

    init(_ texts: PageTexts) { self.texts = texts }

    package subscript(key: String) -> String { texts[key] }
    package func fill(_ key: String, _ values: [String: String]) -> String { texts.fill(key, values) }

    /// The text of a key; nil where there is none.
    func optional(_ key: String) -> String? { texts.table[key] }
    var table: [String: String] { texts.table }
}

/// The documentation as a site: the guides, which are Markdown files in the binary, and the API's reference.
///
/// A page is drawn when it is requested. Its address is `/docs/{language}/{id}`; text that exists in English only is
/// shown in English between words of the page's language.
package struct DocsSite: Sendable {
    private let pages: Pages
    private let reference: any DocsReference
    private let version: String
    private let words: [PageLocale: DocsWords]

    package init(pages: Pages, reference: any DocsReference, version: String) {
        self.pages = pages
        self.reference = reference
        self.version = version
        words = Dictionary(
            uniqueKeysWithValues: PageLocale.allCases.map { ($0, DocsWords(PageTexts($0, pages.files, of: "docs"))) })
    }

    /// The ids of all pages but the first one.
    package var ids: [String] { DocsGuides.all.map(\.id) + reference.pages.map(\.id) }

    /// Draws a page as HTML.
    ///
    /// - Parameter id: nil for the first page.
    /// - Returns: nil for an unknown id.
    package func page(_ id: String?, in locale: PageLocale) -> String? {
        guard let words = words[locale] else { return nil }
        let article = id.flatMap { self.article($0, in: locale) }
        guard id == nil || article != nil else { return nil }
        let key = id.flatMap(key(of:)) ?? "start"
        let foreign = article.flatMap { $0.language == locale ? nil : $0.language.rawValue }
        let languages = locale.others.map { other in
            let address = Self.address(id, in: other["lang"] ?? "")
            return other.merging(["address": address]) { own, _ in own }
        }
        let isStart: Bool? = id == nil ? true : nil
        let members = context([
            "lang": locale.rawValue, "title": "\(words[key]) · Paydesk",
            "styles": ["sdk/tokens.css", "theme.css", "docs/docs.css"].compactMap(pages.assets.address),
            "script": pages.assets.address(of: "docs/docs.js"), "index": "/docs/\(locale.rawValue)/search.js",
            "home": Self.address(nil, in: locale.rawValue), "version": version, "languages": languages,
            "groups": groups(id, article, locale, words), "start": isStart, "body": article?.html,
            "foreign": foreign, "words": words.table,
        ])
        return pages.library.render(members, withTemplate: "docs")
    }

    /// Writes what the search in the page looks through, as a script.
    package func searchIndex(in locale: PageLocale) -> String {
        guard let words = words[locale] else { return "" }
        var entries: [[String]] = []
        for id in ids {
            guard let article = self.article(id, in: locale), let key = key(of: id) else { continue }
            let (address, title) = (Self.address(id, in: locale.rawValue), words[key])
            for section in article.sections {
                // The first heading is the page itself.
                let isFirst = section.level == 1
                entries.append([
                    isFirst ? address : "\(address)#\(section.anchor)", isFirst ? title : section.title, title,
                    section.text,
                ])
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        let json = (try? encoder.encode(entries)).map { String(decoding: $0, as: UTF8.self) } ?? "[]"
        return "globalThis.paydeskDocs = \(json);\n"
    }

    /// Returns a picture of the guides.
    package func picture(named name: String) -> Data? {
        guard name.hasSuffix(".png"), !name.contains("/") else { return nil }
        return pages.files["Docs/docs/\(name)"]
    }

    // MARK: Parts

    private func article(_ id: String, in locale: PageLocale) -> DocsArticle? {
        guard let words = words[locale] else { return nil }
        guard let guide = DocsGuides.guide(id) else { return reference.article(id, in: locale, words) }
        for language in [locale, .english] {
            let path = guide.path(in: language)
            guard let data = pages.files["Docs/\(path)"] else { continue }
            let links = DocsLinks(files: pages.files, locale: locale)
            let page = MarkdownPage(String(decoding: data, as: UTF8.self)) { links.address(of: $0, in: path) }
            return DocsArticle(
                language: language, html: page.html,
                sections: page.sections.map {
                    DocsArticle.Section(level: $0.level, anchor: $0.anchor, title: $0.title, text: $0.text)
                })
        }
        return nil
    }

    /// Returns the key of a page's title.
    private func key(of id: String) -> String? {
        DocsGuides.guide(id).map { "title_\($0.id)" } ?? reference.pages.first { $0.id == id }?.key
    }

    private static func address(_ id: String?, in language: String) -> String {
        "/docs/\(language)" + (id.map { "/\($0)" } ?? "")
    }

    private func groups(
        _ current: String?, _ article: DocsArticle?, _ locale: PageLocale, _ words: DocsWords
    ) -> [Context] {
        let guides = DocsGuides.groups.map { group in
            (group.key, group.guides.map { (id: $0.id, key: "title_\($0.id)") })
        }
        return (guides + [("group_reference", reference.pages)]).map { key, entries in
            let items = entries.map { id, key in
                let isCurrent: Bool? = id == current ? true : nil
                return context([
                    "title": words[key], "help": words.optional("help_\(id)"),
                    "address": Self.address(id, in: locale.rawValue), "current": isCurrent,
                    "parts": isCurrent == nil ? nil : article.flatMap(Self.parts),
                ])
            }
            return context(["title": words[key], "items": items])
        }
    }

    /// The sections of a page, for the contents; nil where there are too few to choose from.
    private static func parts(of article: DocsArticle) -> Context? {
        let sections = article.sections.filter { $0.level == 2 }
        guard sections.count > 1 else { return nil }
        return context([
            "sections": sections.map { context(["title": $0.title, "address": "#\($0.anchor)"]) }
        ])
    }
}
