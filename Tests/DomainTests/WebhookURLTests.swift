import Testing

@testable import Domain

@Suite("Addresses of webhooks")
struct WebhookURLTests {
    static let good = [
        "https://hooks.example/paydesk", "https://hooks.example", "https://hooks.example:8443/a?b=c",
        "HTTPS://Hooks.Example/", "https://8.8.8.8/", "https://[2606:4700:4700::1111]/", "https://a-b.c_d.example/",
        "https://xn--bcher-kva.example/", "https://1.2.3.4.example/", "https://172.15.255.255/", "https://172.32.0.1/",
        "https://100.63.255.255/", "https://100.128.0.0/", "https://192.167.1.1/", "https://223.255.255.254/",
        "https://localhost.example/", "https://local.example/", "https://example.localhosts/",
        "https://[2a00:1450:4001:81b::200e]:443/", "https://hooks.example/@127.0.0.1",
        "https://hooks.example/?u=//10.0.0.1",
    ]

    static let bad: [(String, WebhookURL.Refusal)] = [
        ("", .malformed), ("https://", .malformed), ("https:///x", .malformed), ("hooks.example", .malformed),
        ("//hooks.example/", .malformed), ("https:hooks.example", .malformed),
        ("https://user@hooks.example/", .malformed),
        ("https://user:password@hooks.example/", .malformed), ("https://user@10.0.0.1/", .malformed),
        ("https://hooks.example\\@127.0.0.1/", .malformed), ("https://hooks.example:0/", .malformed),
        ("https://hooks.example:65536/", .malformed), ("https://hooks.example:/", .malformed),
        ("https://hooks.example:8x/", .malformed), ("https://hooks example/", .malformed),
        ("https://hooks.example/\n", .malformed), ("https://häuser.example/", .malformed),
        ("https://%31%32%37.0.0.1/", .malformed), ("https://[::1/", .malformed),
        ("https://[fe80::1%25eth0]/", .malformed),
        ("https://[fe80::1%eth0]/", .malformed), ("https://１２７.0.0.1/", .malformed), ("https://[::1]x/", .malformed),
        ("http://hooks.example/", .notSecure), ("http://127.0.0.1/", .notSecure), ("ftp://hooks.example/", .notSecure),
        ("javascript://hooks.example/", .notSecure), ("file://hooks.example/", .notSecure),
        ("https://hooks.example/#x", .fragment), ("https://hooks.example#", .fragment),
        ("https://127.0.0.1/", .notPublic), ("https://127.0.0.1:8443/", .notPublic), ("https://127.1/", .notPublic),
        ("https://127.0.1/", .notPublic), ("https://2130706433/", .notPublic), ("https://0x7f000001/", .notPublic),
        ("https://0x7f.0.0.1/", .notPublic), ("https://0177.0.0.1/", .notPublic), ("https://017700000001/", .notPublic),
        ("https://0x7F.1/", .notPublic), ("https://127.0.0.01/", .notPublic), ("https://127.0.0.1./", .notPublic),
        ("https://0/", .notPublic), ("https://0x/", .notPublic), ("https://0.0.0.0/", .notPublic),
        ("https://134744072/", .notPublic), ("https://8.8.8.8.8/", .notPublic), ("https://256.1.1.1/", .notPublic),
        ("https://10.0.0.1/", .notPublic), ("https://10.255.255.255/", .notPublic), ("https://172.16.0.1/", .notPublic),
        ("https://172.31.255.255/", .notPublic), ("https://192.168.1.1/", .notPublic),
        ("https://169.254.169.254/", .notPublic),
        ("https://100.64.0.1/", .notPublic), ("https://100.127.255.254/", .notPublic),
        ("https://100.100.100.200/", .notPublic),
        ("https://168.63.129.16/", .notPublic), ("https://192.0.0.1/", .notPublic), ("https://192.0.2.1/", .notPublic),
        ("https://198.18.0.1/", .notPublic), ("https://198.19.255.255/", .notPublic),
        ("https://198.51.100.1/", .notPublic),
        ("https://203.0.113.1/", .notPublic), ("https://224.0.0.1/", .notPublic),
        ("https://239.255.255.250/", .notPublic),
        ("https://240.0.0.1/", .notPublic), ("https://255.255.255.255/", .notPublic), ("https://[::]/", .notPublic),
        ("https://[::1]/", .notPublic), ("https://[0:0:0:0:0:0:0:1]/", .notPublic),
        ("https://[::127.0.0.1]/", .notPublic),
        ("https://[::ffff:127.0.0.1]/", .notPublic), ("https://[::ffff:7f00:1]/", .notPublic),
        ("https://[::ffff:8.8.8.8]/", .notPublic), ("https://[64:ff9b::7f00:1]/", .notPublic),
        ("https://[64:ff9b::8.8.8.8]/", .notPublic), ("https://[64:ff9b:1::1]/", .notPublic),
        ("https://[2002:7f00:1::1]/", .notPublic), ("https://[2002:808:808::1]/", .notPublic),
        ("https://[2001::1]/", .notPublic), ("https://[2001:0:53aa:64c:0:fff5:f5ff:fffe]/", .notPublic),
        ("https://[2001:db8::1]/", .notPublic), ("https://[3fff::1]/", .notPublic), ("https://[fc00::1]/", .notPublic),
        ("https://[fd00:ec2::254]/", .notPublic), ("https://[fe80::1]/", .notPublic),
        ("https://[fec0::1]/", .notPublic),
        ("https://[ff02::1]/", .notPublic), ("https://[100::1]/", .notPublic), ("https://[1:2:3]/", .notPublic),
        ("https://[1::2::3]/", .notPublic), ("https://[12345::]/", .notPublic), ("https://[:::]/", .notPublic),
        ("https://[1.2.3.4]/", .notPublic), ("https://localhost/", .notPublic), ("https://LOCALHOST/", .notPublic),
        ("https://localhost./", .notPublic), ("https://a.localhost/", .notPublic),
        ("https://printer.local/", .notPublic),
        ("https://metadata.google.internal/", .notPublic), ("https://internal/", .notPublic),
        ("https://intranet/", .notPublic),
        ("https://db/", .notPublic), ("https://a..example/", .notPublic), ("https://.example/", .notPublic),
        ("https://hooks.example./", .notPublic), ("https://router.home.arpa/", .notPublic),
    ]

    @Test(arguments: good)
    func `a public address is taken as it is written`(_ text: String) throws {
        #expect(try WebhookURL(text, allowsPrivate: false).text == text)
    }

    @Test(arguments: bad)
    func `what may reach inside is refused`(_ text: String, _ refusal: WebhookURL.Refusal) {
        #expect(throws: refusal) { try WebhookURL(text, allowsPrivate: false) }
    }

    @Test func `an address has at most 2048 characters`() throws {
        let text = "https://hooks.example/"
        let longest = text + String(repeating: "x", count: 2_048 - text.utf8.count)
        #expect(try WebhookURL(longest, allowsPrivate: false).text == longest)
        #expect(throws: WebhookURL.Refusal.malformed) { try WebhookURL(longest + "x", allowsPrivate: false) }
    }

    @Test func `development may allow http and what is inside, and nothing that is malformed`() throws {
        for text in ["http://127.0.0.1:4000/hook", "http://localhost/", "https://10.0.0.1/", "http://[::1]:9/"] {
            #expect(try WebhookURL(text, allowsPrivate: true).text == text)
        }
        for text in ["ftp://127.0.0.1/", "http://user@127.0.0.1/", "http://127.0.0.1/#x", "http://", ""] {
            #expect(throws: WebhookURL.Refusal.self) { try WebhookURL(text, allowsPrivate: true) }
        }
        #expect(try WebhookURL("http://[::1]:9/", allowsPrivate: true).host == "::1")
    }

    @Test func `what is dialled names the host as it was checked`() throws {
        for (text, dialled) in [
            ("https://Hooks.EXAMPLE/A?b=C", "https://hooks.example/A?b=C"),
            ("HTTPS://hooks.example:8443/", "https://hooks.example:8443/"),
            ("https://hooks.example:443", "https://hooks.example"),
        ] {
            #expect(try WebhookURL(text, allowsPrivate: false).dialled == dialled)
        }
    }

    @Test func `an IPv6 address is one number however it is written`() {
        let forms = ["2001:db8::1", "2001:0DB8:0:0:0:0:0:1", "2001:db8::0:1", "2001:db8::0.0.0.1"]
        #expect(Set(forms.map { IPAddress($0) }).count == 1)
        #expect(IPAddress("2001:db8::1")?.description == "2001:db8:0:0:0:0:0:1")
        #expect(IPAddress("::ffff:1.2.3.4") == .v6(0xFFFF_0102_0304))
        for text in ["", ":", "1.2.3", "1.2.3.4.5", "::1.2.3", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1%lo", "g::"] {
            #expect(IPAddress(text) == nil, "\(text)")
        }
    }
}
