/// The limits on a peer's JSON text; Apple's largest objects have some forty members.
enum JSONLimits {
    /// The nesting of objects and arrays.
    static let depth = 16
    /// Members of one object.
    static let members = 128
    /// Values in the whole text.
    static let values = 2_048
}

/// The reason why a JSON text was refused, and at which byte.
struct JSONSyntaxError: Error {
    let problem: String
    let offset: Int
}
