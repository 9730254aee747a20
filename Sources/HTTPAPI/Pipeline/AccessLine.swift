import Domain
import Gateway
import HTTPTypes
import Logging

/// The log line of a request that was answered: an error for 500, a warning for 501 and above, else at the level debug.
///
/// It names routes and never paths, which may contain tokens, and users by no id, because logs outlive an erasure.
enum AccessLine {
    /// - Parameter caller: nil where the request was refused before its caller was known.
    static func write(
        to logger: Logger, _ route: Route, status: HTTPResponse.Status, _ duration: Duration, caller: Caller?,
        requestID: String
    ) {
        let level: Logger.Level =
            switch status.code {
            case 500: .error
            case 501...: .warning
            default: .debug
            }
        logger.log(
            level: level, "request",
            metadata: [
                "route": "\(route.method) \(route.path)", "status": .stringConvertible(status.code),
                "duration_ms": .stringConvertible(Double(duration.nanoseconds / 1_000) / 1_000),
                "caller": "\(caller?.name ?? "unknown")", "request_id": "\(requestID)",
            ])
    }
}

extension Caller {
    /// The kind of the caller, or the id of its key or session.
    fileprivate var name: String {
        switch self {
        case .anyone: "anyone"
        case .user: "user"
        case .session(let session): session.id.rawValue
        case .key(let key): key.id.rawValue
        }
    }
}
