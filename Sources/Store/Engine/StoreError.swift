/// An error of the database or its engine; the text is for the log and never holds a bound value.
package enum StoreError: Error, Sendable, Equatable {
    /// The call wrote no row and may be tried again: no connection, a full disk, a lock or statement timeout.
    case unavailable(String)
    /// The commit was sent and its outcome is not known; look for its rows, or let the caller retry.
    case outcomeUnknown(String)
    /// The storage can no longer be trusted; the process stops.
    case failed(String)
    /// A stored value breaks the schema's promise.
    case corrupt(String)
    /// A statement that violates a constraint or is not valid SQL: a programming error.
    case statement(String)
    /// The embedded database is owned by another process.
    case owned(String)
}
