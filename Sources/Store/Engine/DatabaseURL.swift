/// The address of the database: `sqlite:<path>` or a libpq connection URL; no text form of it shows a password.
package enum DatabaseURL: Sendable, Equatable {
    case sqlite(path: String)
    case postgres(PostgresAddress)

    /// - Throws: ``DatabaseURLError``, which never repeats the text because that may hold a password.
    package init(_ text: String) throws(DatabaseURLError) {
        if text.hasPrefix("sqlite:") {
            let path = String(text.dropFirst("sqlite:".count))
            guard !path.isEmpty, !path.hasPrefix(":"), !path.contains("\0") else { throw .path }
            // Some programs read `sqlite://data/x.db` as a host named "data", others as a path.
            guard !path.hasPrefix("//") || path.hasPrefix("///") else { throw .path }
            self = .sqlite(path: path)
        } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            guard let address = PostgresAddress(text) else { throw .address }
            self = .postgres(address)
        } else {
            throw .scheme
        }
    }
}

/// The errors of a text that is not a database URL.
package enum DatabaseURLError: Error, Sendable, Equatable, CustomStringConvertible {
    case scheme
    case path
    case address

    package var description: String {
        switch self {
        case .scheme: "a database URL starts with sqlite: or postgres://"
        case .path: "a sqlite: URL is followed by the path of a file, as in sqlite:/var/lib/paydesk/paydesk.db"
        case .address: "the postgres:// URL is not one that libpq understands"
        }
    }
}

extension DatabaseURL: CustomStringConvertible, CustomDebugStringConvertible {
    package var description: String {
        switch self {
        case .sqlite(let path): "sqlite:\(path)"
        case .postgres(let address): address.description
        }
    }

    package var debugDescription: String { description }
}
