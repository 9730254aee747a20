import Testing

@testable import Store

@Suite struct DatabaseURLTests {
    @Test(arguments: ["postgres", "postgresql"])
    func `no text form of an address shows its password`(scheme: String) throws {
        for text in [
            "\(scheme)://pay:s3cret@db.example:6432/paydesk?sslmode=verify-full&application_name=x",
            "\(scheme)://pay@db.example:6432/paydesk?password=s3cret",
        ] {
            let url = try DatabaseURL(text)
            var dumped = ""
            dump(url, to: &dumped)
            for shown in ["\(url)", String(reflecting: url), String(describing: Optional(url)), dumped] {
                #expect(!shown.contains("s3cret"))
            }
            #expect(url.description == "postgres://pay@db.example:6432/paydesk")
        }
    }

    @Test func `an address keeps what it says and gets defaults for the rest`() throws {
        guard
            case .postgres(let address) = try DatabaseURL(
                "postgres://pay:x@db/paydesk?sslmode=verify-full&tcp_user_timeout=5")
        else { throw DatabaseURLError.scheme }
        let parameters = address.connectionParameters
        #expect(parameters["sslmode"] == "verify-full")
        #expect(parameters["password"] == "x")
        #expect(parameters["tcp_user_timeout"] == "5")
        #expect(parameters["connect_timeout"] == "2")
        #expect(parameters["keepalives"] == "1")
        #expect(parameters["target_session_attrs"] == "read-write")
        #expect(address.database("other").parameters["dbname"] == "other")
    }

    @Test(arguments: ["sqlite:paydesk.db", "sqlite:/var/lib/paydesk/paydesk.db"])
    func `a path is a SQLite database`(text: String) throws {
        let url = try DatabaseURL(text)
        #expect(url == .sqlite(path: String(text.dropFirst(7))))
        #expect(url.description == text)
    }

    @Test(arguments: [
        ("", DatabaseURLError.scheme), ("mysql://u:s3cret@h/d", .scheme), ("paydesk.db", .scheme), ("sqlite:", .path),
        ("sqlite::memory:", .path), ("sqlite://data/x.db", .path), ("postgres://u:s3cret@h:port:x/%zz", .address),
    ])
    func `anything else is an error that repeats nothing`(text: String, expected: DatabaseURLError) {
        let error = #expect(throws: DatabaseURLError.self) { try DatabaseURL(text) }
        #expect(error == expected)
        #expect(error?.description.contains("s3cret") == false)
    }
}
