/// The guides of the documentation: Markdown files of the repository, by what a reader wants.
enum DocsGuides {
    struct Guide: Sendable {
        /// The last part of the page's address.
        let id: String
        /// The file in English, from the repository's root; the one in Chinese has another ending.
        let path: String

        func path(in locale: PageLocale) -> String {
            locale == .chinese ? path.dropLast(".md".count) + ".zh-CN.md" : path
        }
    }

    struct Group: Sendable {
        /// The key of its title among the texts.
        let key: String
        let guides: [Guide]

        init(_ key: String, _ guides: [Guide]) {
            self.key = key
            self.guides = guides
        }
    }

    /// All guides; a file of `docs` that is not named here is not on the site, which a test finds.
    static let groups = [
        Group("group_start", [Guide(id: "overview", path: "README.md"), docs("first-hour")]),
        Group(
            "group_build",
            [
                "api", "cashier", "portal", "javascript", "ios", "app-store", "apple-pay", "external-purchases",
                "wallets", "subscriptions", "live", "partners",
            ].map(docs)),
        Group("group_run", ["configuration", "packages", "operations", "console", "development"].map(docs)),
        Group(
            "group_providers",
            ["stripe", "paypal", "alipay", "wechat-pay", "epay", "remote", "sandbox"].map {
                Guide(id: $0, path: "docs/providers/\($0).md")
            } + [
                Guide(id: "remote-plugins", path: "\(catalogue)/RemotePlugins.md"),
                Guide(id: "writing-a-provider", path: "\(catalogue)/WritingAProvider.md"),
            ]),
        Group(
            "group_understand",
            ["domain", "architecture", "glossary"].map(docs) + [
                Guide(id: "contributing", path: "CONTRIBUTING.md"), Guide(id: "changes", path: "CHANGELOG.md"),
            ]),
    ]

    private static let catalogue = "Sources/ProviderKit/ProviderKit.docc"

    private static func docs(_ id: String) -> Guide { Guide(id: id, path: "docs/\(id).md") }

    static let all = groups.flatMap(\.guides)

    static func guide(_ id: String) -> Guide? { all.first { $0.id == id } }
}

/// The links of the guides, which name files of the repository, as addresses of the site.
struct DocsLinks: Sendable {
    let files: PageFiles
    /// The language of the page that has the links.
    let locale: PageLocale

    /// Returns the address of a link; nil where it leads to a file of the repository that is not on the site.
    ///
    /// - Parameter path: the file that has the link, from the repository's root.
    func address(of link: String, in path: String) -> String? {
        if link.hasPrefix("https://") || link.hasPrefix("http://") || link.hasPrefix("#") { return link }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let target = Self.joined(parts[0], in: path)
        if target == "docs/openapi.json" { return "/openapi.json" }
        if target.hasSuffix(".png") {
            return files["Docs/\(target)"] == nil ? nil : "/docs/files/\(target.split(separator: "/").last ?? "")"
        }
        guard let guide = DocsGuides.all.first(where: { $0.path == target || $0.path(in: .chinese) == target }) else {
            return nil
        }
        // A page that links to itself in another language means that language.
        let isItself = [guide.path, guide.path(in: .chinese)].contains(path)
        let language = !isItself ? locale : target == guide.path ? .english : .chinese
        return "/docs/\(language.rawValue)/\(guide.id)" + (parts.count > 1 ? "#\(parts[1])" : "")
    }

    /// Resolves a relative path.
    private static func joined(_ link: Substring, in path: String) -> String {
        var parts = path.split(separator: "/").dropLast()
        for part in link.split(separator: "/") where part != "." {
            if part == ".." { _ = parts.popLast() } else { parts.append(part) }
        }
        return parts.joined(separator: "/")
    }
}
