import Domain
import Testing

struct CIDRTests {
    @Test(
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("192.168.1.0/25", "192.168.1.127", true),
            ("192.168.1.0/25", "192.168.1.128", false), ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
            ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe80::1", false), ("::1", "0:0:0:0:0:0:0:1", true),
            ("::/0", "2001:db8::1", true), ("::/0", "10.0.0.1", false), ("10.1.2.3/8", "10.9.9.9", true),
            ("fe80::/10", "febf::1", true), ("fe80::/10", "fec0::1", false),
        ])
    func `a range knows its addresses`(_ range: String, _ address: String, _ inside: Bool) throws {
        let address = try #require(IPAddress(address))
        #expect(try #require(CIDR(range)).contains(address) == inside)
    }

    @Test(
        arguments: [
            "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0/8", "fd00::/129", "localhost",
            "10.0.0.0/8/8",
            "fe80::1%eth0/10",
        ])
    func `what is no range is refused`(_ text: String) {
        #expect(CIDR(text) == nil)
    }
}
