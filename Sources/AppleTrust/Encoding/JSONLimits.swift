/// How large a JSON text of a peer may be; Apple's largest have some forty members.
enum JSONLimits {
    /// Objects and arrays inside one another.
    static let depth = 16
    /// Members of one object.
    static let members = 128
    /// Values in the whole text.
    static let values = 2_048
}

/// Why a JSON text was refused, and at which byte.
struct JSONSyntaxError: Error {
    let problem: String
    let offset: Int
}
