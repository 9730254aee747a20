import Domain

/// Fills in `${NAME}` and `${NAME:-default}` in one parsed scalar; `$${` is a literal `${`.
enum Substitution {
    /// The reason why a scalar could not be filled in.
    enum Fault: Error, Equatable {
        /// The variable is not set and has no default.
        case unset(String)
        /// `${` is not followed by a name in capitals and `}`.
        case malformed
    }

    struct Result: Equatable {
        let text: String
        /// True where a variable was filled in, so that an empty text means "not set".
        let changed: Bool
    }

    /// Fills in the variables; a default is used where the variable is unset or empty.
    static func apply(_ text: String, environment: [String: String]) throws(Fault) -> Result {
        var output = ""
        var changed = false
        var rest = text[...]
        while let start = rest.firstRange(of: "${") {
            let before = rest[..<start.lowerBound]
            output += before
            if before.last == "$" {
                // `$${` is a literal `${`: one of the two dollars is already in the output.
                output += "{"
                rest = rest[start.upperBound...]
                continue
            }
            guard let end = rest[start.upperBound...].firstIndex(of: "}") else { throw .malformed }
            output += try value(rest[start.upperBound..<end], environment)
            changed = true
            rest = rest[rest.index(after: end)...]
        }
        return Result(text: output + rest, changed: changed)
    }

    private static func value(_ expression: Substring, _ environment: [String: String]) throws(Fault) -> String {
        let name = expression.prefix { $0 != ":" }
        let tail = expression[name.endIndex...]
        guard isName(name), tail.isEmpty || tail.hasPrefix(":-") else { throw .malformed }
        let value = environment[String(name)]
        if tail.isEmpty {
            guard let value else { throw .unset(String(name)) }
            return value
        }
        guard let value, !value.isEmpty else { return String(tail.dropFirst(2)) }
        return value
    }

    private static func isName(_ text: Substring) -> Bool {
        func isCapital(_ byte: UInt8) -> Bool { byte.isCapital || byte == UInt8(ascii: "_") }
        guard let first = text.utf8.first, isCapital(first) else { return false }
        return text.utf8.allSatisfy { isCapital($0) || $0.isDigit }
    }
}
