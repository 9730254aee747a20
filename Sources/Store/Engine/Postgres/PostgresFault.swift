/// The failure of a statement or a connection, classified by what may be done about it.
enum PostgresFault: Error {
    /// The connection is gone, and its open transaction with it.
    case lost(String)
    /// The transaction lost a race against another one and may run again.
    case again(String)
    /// The server prepared a statement for tables that have changed since; prepare it again, then run the transaction
    /// again.
    case stale(String)
    case refused(StoreError)

    var storeError: StoreError {
        switch self {
        case .lost(let text), .again(let text), .stale(let text): .unavailable(text)
        case .refused(let error): error
        }
    }

    /// Classifies an error by its SQLSTATE (PostgreSQL's appendix A).
    init(_ result: PostgresResult) {
        let state = result.field(.state) ?? "unknown"
        let text = "PostgreSQL error \(state): \(Self.safeText(state, result))"
        switch state {
        case "40001", "40P01", "55P03": self = .again(text)
        case "0A000" where result.field(.sourceFunction) == "RevalidateCachedQuery": self = .stale(text)
        case "57014": self = .refused(.unavailable(text))
        case "58030", "XX001", "XX002": self = .refused(.failed(text))
        default:
            switch state.prefix(2) {
            // Out of resources, or shutting down.
            case "53", "57", "08", "58": self = .refused(.unavailable(text))
            default: self = .refused(.statement(text))
            }
        }
    }

    /// The primary message, except for class 22 (data exceptions), whose messages repeat the value.
    ///
    /// The detail is never used: it contains the row.
    private static func safeText(_ state: String, _ result: PostgresResult) -> String {
        guard !state.hasPrefix("22"), state != "unknown" else { return "a value does not fit" }
        return result.field(.message) ?? "no message"
    }
}
