import Gateway
import HTTPTypes
import Hummingbird
import NIOCore

/// Counts large answers against a ``ByteBudget`` until they are sent, and sends them in pieces.
///
/// The piece after one that the client does not take waits in the answer, so that the connection itself holds a few pieces
/// at most, however many answers were asked for on it.
struct AnswerBudget: Sendable {
    /// Smaller answers are not counted: each connection holds one of them at most.
    private static let small = 16 << 10
    fileprivate static let piece = 32 << 10

    let bytes: ByteBudget

    /// The answer with its bytes counted; they are given back when it was sent, or is not sent after all.
    ///
    /// - Throws: `temporarilyUnavailable` where too much is being sent already.
    func counted(
        _ response: Response, for holder: @autoclosure () -> ByteBudget.Holder
    ) throws(GatewayError) -> Response {
        guard let length = response.body.contentLength, length > Self.small else { return response }
        let holder = holder()
        try bytes.take(length, for: holder)
        let reservation = Reservation(length, holder, of: bytes)
        var response = response
        let body = response.body
        response.body = ResponseBody(contentLength: length) { writer in
            try await body.write(PieceWriter(writer))
            withExtendedLifetime(reservation) {}
        }
        return response
    }

    /// Bytes of a budget for as long as this is kept.
    private final class Reservation: Sendable {
        private let length: Int
        private let holder: ByteBudget.Holder
        private let budget: ByteBudget

        init(_ length: Int, _ holder: ByteBudget.Holder, of budget: ByteBudget) {
            self.length = length
            self.holder = holder
            self.budget = budget
        }

        deinit { budget.giveBack(length, for: holder) }
    }
}

/// Writes each buffer in pieces that share no memory with it, so that one piece does not keep all of it.
private struct PieceWriter: ResponseBodyWriter {
    private var writer: any ResponseBodyWriter

    init(_ writer: any ResponseBodyWriter) { self.writer = writer }

    @concurrent mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer.readableBytesView[...]
        while !rest.isEmpty {
            let piece = rest.prefix(AnswerBudget.piece)
            rest = rest.dropFirst(piece.count)
            try await writer.write(ByteBuffer(bytes: piece))
        }
    }

    @concurrent consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await writer.finish(trailingHeaders)
    }
}
