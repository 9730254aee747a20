import NIOCore

/// A webhook's message as an endpoint got it.
struct Message: Sendable {
    /// `webhook-id`: the event's id.
    let event: String
    let subject: String
    /// Counts the events of the subject, from 1.
    let sequence: Int

    enum Fault: Error {
        /// The request is not a webhook's message.
        case head, body
    }

    private static let contentLength = Array("\r\ncontent-length:".utf8)
    private static let id = Array("\r\nwebhook-id:".utf8)
    private static let sequenceMember = Array(#""sequence":"#.utf8)
    private static let subjectMember = Array(#""subject":""#.utf8)
    /// Three letters, `_` and 26 characters.
    private static let idLength = 30

    /// The first whole message, removed from the buffer; nil while none is whole.
    static func take(_ buffer: inout ByteBuffer) throws -> Message? {
        guard let head = buffer.withUnsafeReadableBytes({ HeadBytes.end($0) }) else { return nil }
        let length = buffer.withUnsafeReadableBytes { bytes in
            HeadBytes.number(after: contentLength, in: UnsafeRawBufferPointer(rebasing: bytes[..<head]))
        }
        guard let length else { throw Fault.head }
        guard buffer.readableBytes >= head + length else { return nil }
        let message = try buffer.withUnsafeReadableBytes { bytes in
            try Message(
                head: UnsafeRawBufferPointer(rebasing: bytes[..<head]),
                body: UnsafeRawBufferPointer(rebasing: bytes[head..<head + length]))
        }
        buffer.moveReaderIndex(forwardBy: head + length)
        return message
    }

    private init(head: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer) throws {
        guard let event = HeadBytes.word(after: Self.id, count: Self.idLength, in: head) else { throw Fault.head }
        guard let sequence = HeadBytes.number(after: Self.sequenceMember, in: body),
            let subject = HeadBytes.word(after: Self.subjectMember, count: Self.idLength, in: body)
        else { throw Fault.body }
        self.event = event
        self.subject = subject
        self.sequence = sequence
    }
}
