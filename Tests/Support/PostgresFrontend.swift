/// Counts the messages of one client to PostgreSQL in the bytes that it sends (PostgreSQL documentation, "Message
/// Formats").
struct PostgresFrontend {
    /// The bytes of a message that is not complete yet.
    private var rest: [UInt8] = []
    /// False until the client has sent the start-up message: the messages up to it have no type.
    private var isStarted = false

    /// Returns the number of messages in these bytes for whose answer the client waits: the end of a pipeline, and a
    /// simple query.
    ///
    /// A ROLLBACK is not counted, because the client sends it after a read and does not wait for the answer.
    mutating func questions(_ bytes: [UInt8]) -> Int {
        rest += bytes
        var (questions, start) = (0, 0)
        while true {
            let head = isStarted ? start + 1 : start
            guard rest.count >= head + 4 else { break }
            let length = rest[head..<head + 4].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= head + length else { break }
            let body = rest[head + 4..<head + length]
            if isStarted {
                if Self.isQuestion(rest[start], body) { questions += 1 }
            } else {
                // A request for encryption may come before the version, 3.0.
                isStarted = body.prefix(4) == [0, 3, 0, 0]
            }
            start = head + length
        }
        rest.removeFirst(start)
        return questions
    }

    private static func isQuestion(_ type: UInt8, _ body: ArraySlice<UInt8>) -> Bool {
        switch type {
        case UInt8(ascii: "S"): true
        case UInt8(ascii: "Q"): !body.elementsEqual("ROLLBACK\0".utf8)
        default: false
        }
    }
}
