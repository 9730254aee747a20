import Testing

@testable import Pages

/// The checks of a payer's page that hold in every state.
enum PageChecks {
    /// - Parameter page: the document's `data-page`.
    static func check(_ html: String, _ state: String, _ locale: PageLocale, page: String) throws {
        #expect(try attribute("data-state", of: "main", in: html) == state)
        #expect(try attribute("lang", of: "html", in: html) == locale.rawValue)
        #expect(try attribute("data-page", of: "html", in: html) == page)
        #expect(html.matches(of: /<h1\b/).count == 1 && html.matches(of: /<main\b/).count == 1)
        #expect(html.matches(of: /data-live/).count == 1)
        // A text that is missing is shown by its key, a value by its name.
        #expect(html.firstMatch(of: /\{[a-z_]+\}/) == nil, "\(html.firstMatch(of: /\{[a-z_]+\}/)?.output ?? "")")
        #expect(html.firstMatch(of: /\{\{|Optional\(/) == nil)
        #expect(html.firstMatch(of: /<script(?![^>]*\bsrc=)[^>]*>|<style|\sstyle=|\son[a-z]+=/) == nil)
        #expect(html.firstMatch(of: /href=""|<dd>\s*<\/dd>/) == nil)
        let title = try #require(html.firstMatch(of: /<h1[^>]*>([^<]*)<\/h1>/)).output.1
        #expect(!title.isEmpty)
    }

    /// Finds an attribute of the first element of a kind in HTML.
    private static func attribute(_ name: String, of element: String, in html: String) throws -> String? {
        let tag = try #require(html.firstMatch(of: try Regex("<\(element)\\b[^>]*>"))).0
        return tag.firstMatch(of: try Regex("\\s\(name)=\"([^\"]*)\"", as: (Substring, Substring).self))
            .map { String($0.output.1) }
    }
}
