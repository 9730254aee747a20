import Gateway
import HTTPTypes
import Hummingbird
import NIOCore

/// Counts large answers against a ``ByteBudget`` until they are sent, and sends them in pieces.
///
/// Until the client has read a piece the next one waits in the answer, so that the connection itself buffers a few
/// pieces at most, however many answers were requested on it.
struct AnswerBudget: Sendable {
    /// The size in bytes up to which answers are not counted: a connection has one of them in memory at most.
    private static let small = 16 << 10
    fileprivate static let piece = 32 << 10

    let bytes: ByteBudget

    /// Returns the answer with its bytes counted; they are released when the answer was sent or is dropped.
    ///
    /// - Throws: `temporarilyUnavailable` where too many bytes are being sent already.
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

    /// Bytes of a budget, released when this object is.
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

/// Writes each buffer in pieces that share no memory with it, so that a waiting piece does not retain all of it.
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
