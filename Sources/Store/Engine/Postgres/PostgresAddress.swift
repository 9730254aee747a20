import CLibpq

/// A connection URL as libpq understands it; its description shows user, hosts, port and database, and nothing else.
package struct PostgresAddress: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// libpq's keywords with the values that the URL gives.
    let parameters: [String: String]

    /// Values for keywords that the URL leaves out: a peer that has vanished is noticed within seconds, and a standby
    /// is not mistaken for the primary server.
    private static let defaults = [
        "application_name": "paydesk",
        "connect_timeout": "2",
        "keepalives": "1",
        "keepalives_idle": "10",
        "keepalives_interval": "3",
        "keepalives_count": "3",
        "tcp_user_timeout": "10000",
        "target_session_attrs": "read-write",
    ]

    private static let modes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"]

    /// nil when libpq cannot parse the text, or would not know its `sslmode`.
    init?(_ text: String) {
        guard !text.utf8.contains(0), let options = PQconninfoParse(text, nil) else { return nil }
        defer { PQconninfoFree(options) }
        var parameters: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parameters[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        // libpq accepts any text here and refuses it only at the first connection.
        if let mode = parameters["sslmode"], !Self.modes.contains(mode) { return nil }
        self.parameters = parameters
    }

    private init(parameters: [String: String]) {
        self.parameters = parameters
    }

    /// The parameters with which a connection is opened.
    var connectionParameters: [String: String] { connectionParameters(node: nil) }

    /// - Parameter node: the name of the node, by which the server counts the nodes.
    func connectionParameters(node: String?) -> [String: String] {
        var merged = parameters.merging(Self.defaults) { given, _ in given }
        if let node {
            // PostgreSQL cuts the name after 63 bytes.
            let name = (merged["application_name"] ?? "").unicodeScalars.filter(\.isASCII).prefix(40)
            merged["application_name"] = "\(String(String.UnicodeScalarView(name))) node=\(node)"
        }
        return merged
    }

    /// The same server and user with another database.
    package func database(_ name: String) -> PostgresAddress {
        PostgresAddress(parameters: parameters.merging(["dbname": name]) { _, new in new })
    }

    package var description: String {
        let user = parameters["user"].map { "\($0)@" } ?? ""
        let host = parameters["host"] ?? parameters["hostaddr"] ?? ""
        let port = parameters["port"].map { ":\($0)" } ?? ""
        return "postgres://\(user)\(host)\(port)/\(parameters["dbname"] ?? "")"
    }

    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
