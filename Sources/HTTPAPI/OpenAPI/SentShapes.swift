import Domain

/// The shapes of requests' values, as exactly as a regular expression (ECMA-262) can describe them.
extension Shape {
    /// Returns the shape as callers must send it: no text contains U+0000, and a strict body has no unknown members.
    func sent(isStrict: Bool) -> Shape {
        var shape = self
        switch form {
        case .any, .words, .integer, .number, .boolean: break
        case .string(let format, let length, let pattern):
            shape.form = .string(format: format, length: length, pattern: pattern ?? #"[^\u0000]*"#)
        case .list(let element, let count, let isSet):
            shape.form = .list(element.sent(isStrict: isStrict), count: count, isSet: isSet)
        case .map(let value, let keys, let count):
            let keys = (keys ?? .string).sent(isStrict: isStrict)
            shape.form = .map(value.sent(isStrict: isStrict), keys: keys, count: count)
        case .object(let members):
            shape.isClosed = isStrict
            shape.form = .object(
                members.map {
                    Member(name: $0.name, shape: $0.shape.sent(isStrict: isStrict), isRequired: $0.isRequired)
                })
        case .oneOf(let shapes, let member):
            shape.form = .oneOf(shapes.map { $0.sent(isStrict: isStrict) }, by: member)
        case .named(let name, let named): shape.form = .named(name, named.sent(isStrict: isStrict))
        }
        return shape
    }

    /// Returns the shape of a path's parameter, by its name.
    static func pathPart(_ name: String) -> Shape {
        switch name {
        case "user_id": userID
        case "unit": code
        default: string(1...Int.max, pattern: #"[^\u0000]+"#)
        }
    }

    /// Text without control characters and line breaks, as ``Swift/StringProtocol/isPlain`` says, in Unicode scalars.
    static func plain(_ length: ClosedRange<Int>) -> Shape {
        string(length, pattern: #"[^\u0000-\u001f\u007f-\u009f\u2028\u2029]*"#)
    }

    /// Text without control characters except tabs and line breaks.
    static func plainText(_ length: ClosedRange<Int>) -> Shape {
        string(length, pattern: #"[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*"#)
    }

    static let userID = plain(1...128).shown(#""user-42""#)
    /// The id of a SKU, or a unit of a wallet.
    static let code = string(1...64, pattern: "[a-z0-9][a-z0-9_.-]{0,63}")
    /// A currency that ISO 4217 lists.
    static let knownCurrency = string(3...3, pattern: "(?:\(Currency.codes.joined(separator: "|")))")
        .noted("ISO 4217.").shown(#""CNY""#)
    static let price = named("Price", amount(.integer(0...1_000_000_000_000), knownCurrency))
    static let refundAmount = named("RefundAmount", amount(.integer(1...Int64.max), knownCurrency))

    /// A time in the future; the server's clock decides.
    static let timeAhead = integer(1...Timestamp.farFuture.rawValue).noted("Seconds since 1970-01-01 UTC, ahead.")
        .shown("4102444800")

    /// A time in a query: seconds since 1970, or ISO 8601.
    static let moment = string(1...64, pattern: "(?:-?[0-9]{1,18}|\(date)(?:\(clock))?)")
        .noted("Seconds since 1970-01-01 UTC, a date or an ISO 8601 time.").shown(#""2026-01-31""#)

    /// A day of the calendar: months have their own lengths, and 29 February exists in leap years only.
    private static let date =
        "(?:[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
        + "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
    private static let clock =
        #"[Tt](?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]*)?)?"#
        + "(?:[Zz]|[+ -](?:[01][0-9]|2[0-3]):?[0-5][0-9])"

    /// An absolute address of printable ASCII without quotes, angle brackets and backslashes.
    static let sentAddress = string(3...WebAddress.lengthLimit, pattern: "[A-Za-z][A-Za-z0-9+.-]{0,63}:\(letters)*")
        .shown(#""https://app.example/done""#)
    /// An https address without user information and fragment.
    static let httpsAddress = string(
        9...WebAddress.lengthLimit,
        pattern: #"https://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]{2,}\])(?::\#(port))?(?:[/?]\#(lettersWithoutHash)*)?"#
    ).shown(#""https://partner.example/paydesk""#)

    private static let letters = #"[!#-;=?-\[\]^_a-~]"#
    private static let lettersWithoutHash = #"[!$-;=?-\[\]^_a-~]"#
    private static let port = "(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"

    /// An Apple product id, or `bundle:product`, with at most one placeholder for days.
    static let appleProductID = string(
        1...255,
        pattern: #"(?:[A-Za-z0-9._-]+:)?(?:[A-Za-z0-9._-]+(?:\#(days)[A-Za-z0-9._-]*)?|\#(days)[A-Za-z0-9._-]+)"#)
    private static let days = #"\$\{(?:days|quantity)\}"#
}

// MARK: Cursors

extension Shape {
    /// The `next_cursor` of a list that is ordered by ids.
    static func cursor(_ prefix: String) -> Shape { string(30...30, pattern: "\(prefix)_[0-9a-hjkmnp-tv-z]{26}") }

    /// The `next_cursor` of a list that is ordered by numbers.
    static let numberCursor = string(1...18, pattern: "[1-9][0-9]{0,17}")

    /// The `next_cursor` of a list that is ordered by time and a second key.
    static func timeCursor(_ second: String) -> Shape {
        string(5...1_024, pattern: #"[0-9]{1,18}~\#(second)~[^~\u0000][^\u0000]*"#)
    }
}
