import Domain
import ProviderKit
import Testing

/// The reader that gathers every fault of an account's settings.
struct ProviderSettingsReaderTests {
    enum Mode: String, CaseIterable { case one, two, three }

    private static func reader(
        _ settings: [String: SettingValue], isDevelopment: Bool = false
    ) -> ProviderSettingsReader {
        ProviderSettingsReader(
            ProviderAccount(
                id: AccountID("piggy")!, settings: ProviderSettings(settings), isDevelopment: isDevelopment))
    }

    private static func problems(_ reader: ProviderSettingsReader) -> [String] {
        reader.faults.map { "\($0.setting) \($0.problem)" }
    }

    @Test func `every fault is gathered, and none has a value`() {
        let reader = Self.reader(["mode": .text("swordfish"), "key": .text("sword fish"), "ip": .text("swordfish")])
        #expect(reader.choice("mode", of: Mode.allCases, default: .two) == .two)
        _ = reader.text("key", 1...64, "copy it")
        _ = reader.text("id", 1...64, "copy it")
        _ = reader.ipAddress("ip")
        #expect(
            Self.problems(reader) == [
                "mode is not one of its words", "key is of a wrong form", "id is missing", "ip is no IP address",
            ])
        #expect(reader.faults.first?.remedy == "use one, two or three")
        let thrown = #expect(throws: ProviderSetupError.self) { try reader.check() }
        #expect(thrown?.faults == reader.faults && !"\(String(reflecting: thrown))".contains("fish"))
    }

    @Test func `what is good is read as it stands`() throws {
        let reader = Self.reader(["mode": .text("three"), "id": .text("a_9"), "ip": .text("2001:db8::1")])
        #expect(reader.choice("mode", of: Mode.allCases, default: .one) == .three)
        #expect(reader.choice("other", of: Mode.allCases, default: .one) == .one)
        #expect(reader.text("id", 1...3, "copy it", where: { $0 != 0x20 }) == "a_9")
        #expect(reader.ipAddress("ip") == "2001:db8::1" && reader.ipAddress("absent") == nil)
        try reader.check()
    }

    @Test(
        arguments: [
            ("https://api.example", .any, "https://api.example"),
            ("https://api.example/v1//", .any, "https://api.example/v1"),
            ("https://api.example/", .none, "https://api.example"), ("https://api.example/v1", .none, nil),
            ("https://api.example", .kept, "https://api.example/"),
            ("https://api.example/v1/", .kept, "https://api.example/v1/"),
            ("https://api.example/?a", .any, nil), ("https://api.example/#a", .kept, nil), ("api.example", .any, nil),
            ("weixin://api", .any, nil),
        ] as [(String, ProviderSettingsReader.AddressPath, String?)])
    func `an address has scheme, host and the path that its service may have`(
        _ text: String, _ path: ProviderSettingsReader.AddressPath, _ expected: String?
    ) {
        let reader = Self.reader(["base": .text(text)])
        let address = reader.address("base", path: path, "give a plain address")
        #expect(address == expected ?? "")
        #expect(Self.problems(reader) == (expected == nil ? ["base is no plain web address"] : []))
    }

    @Test func `an address is missing, standard, or without https in development alone`() {
        let absent = Self.reader([:])
        #expect(absent.address("base", default: "https://api.example", "x") == "https://api.example")
        #expect(absent.faults.isEmpty && absent.address("base", "x") == "")
        #expect(Self.problems(absent) == ["base is missing"])
        let plain = ["base": SettingValue.text("http://127.0.0.1:8080/")]
        let (live, development) = (Self.reader(plain), Self.reader(plain, isDevelopment: true))
        for reader in [live, development] { #expect(reader.address("base", "x") == "http://127.0.0.1:8080") }
        #expect(Self.problems(live) == ["base is without https, which is for development only"])
        #expect(development.faults.isEmpty)
    }
}
