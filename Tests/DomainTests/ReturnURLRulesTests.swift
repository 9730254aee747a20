import Domain
import Testing

struct ReturnURLRulesTests {
    private static let listed = ReturnURLRules(
        ["https://app.example", "http://127.0.0.1:3000", "myapp:", "Other://", "https://[::1]:8443"].compactMap(
            ReturnURLRules.Rule.init))

    @Test(
        arguments: [
            "https://app.example", "https://app.example/done?x=1#y", "HTTPS://APP.EXAMPLE:443/",
            "https://app.example?x",
            "http://127.0.0.1:3000/done", "myapp:", "myapp:done", "MyApp://done/1", "other://x", "https://[::1]:8443/a",
        ])
    func `an address of a listed origin or scheme is allowed`(_ url: String) {
        #expect(Self.listed.allows(url))
    }

    @Test(
        arguments: [
            "https://evil.example/", "http://app.example/", "https://app.example:8443/",
            "https://app.example.evil.example/",
            "https://sub.app.example/", "https://evilapp.example/", "https://app.example./", "http://127.0.0.1/",
            "myapps://x", "unknown://x", "https://[::2]:8443/",
        ])
    func `another origin or scheme is refused`(_ url: String) {
        #expect(!Self.listed.allows(url))
    }

    @Test(
        arguments: [
            "javascript:alert(1)", "JAVASCRIPT:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd",
            "blob:https://a/1",
            "about:blank", "view-source:https://app.example", "filesystem:x", "intent://x", "ws://app.example",
        ])
    func `what runs or opens something is refused everywhere`(_ url: String) {
        #expect(!ReturnURLRules.anything.allows(url))
        #expect(!Self.listed.allows(url))
        #expect(ReturnURLRules.Rule(url) == nil)
    }

    @Test(
        arguments: [
            "", "/done", "//app.example", "app.example", "https:", "https:app.example", "https:/app.example",
            "https://",
            "https:///done", "https://user@app.example/", "https://app.example@evil.example/",
            "https://user:p@app.example/",
            "https://app.example\\@evil.example/", "https://app.example\\.evil.example", "https://app.example:/",
            "https://app.example:0/", "https://app.example:65536/", "https://app.example:+443/",
            "https://app.example:443:443/",
            " https://app.example/", "https://app.example/ x", "https://app.example/\n", "java\nscript:alert(1)",
            "https://app.example/\u{0}", "https://app.example/\u{7F}", "https://app%2eexample/", "https://áрр.example/",
            "https://app.example/é", "https://[::1/", "https://[]/", "https://[::1]x/", "https://app.example/\"",
            "https://app.example/<",
            "1app://x", "my app://x", "myapp://user@x", ":x", "://x",
        ])
    func `what parsers read differently is refused`(_ url: String) {
        #expect(!ReturnURLRules.anything.allows(url))
    }

    @Test func `an address has at most 2,048 bytes`() {
        let start = "https://app.example/"
        let longest = start + String(repeating: "x", count: 2_048 - start.utf8.count)
        #expect(Self.listed.allows(longest))
        #expect(!Self.listed.allows(longest + "x"))
    }

    @Test(arguments: ["https://anything.example/x", "http://localhost:3000", "myapp://x", "com.example.app:/oauth"])
    func `in development an empty list allows web and app addresses`(_ url: String) {
        #expect(ReturnURLRules.anything.allows(url))
        #expect(!ReturnURLRules([]).allows(url))
    }

    @Test(
        arguments: [
            "", "https:", "https://", "https://*.example", "https://app.example/path", "https://app.example?x", "*",
            "myapp",
            "myapp://host", "myapp:path", "https://user@app.example",
        ])
    func `a rule is an origin or a scheme and nothing more`(_ text: String) {
        #expect(ReturnURLRules.Rule(text) == nil)
    }
}
