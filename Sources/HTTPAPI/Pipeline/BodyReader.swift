import FoundationEssentials
import Gateway
import Hummingbird
import NIOCore

/// Reads a request's body up to its limit.
enum BodyReader {
    /// So much of an over-long body is read and dropped, so that the client sees the answer instead of a broken pipe.
    private static let drained = 1 << 20

    /// So long a whole body may take; between two pieces of it the server's idle time limit counts.
    private static let patience = Duration.seconds(20)

    /// - Throws: `payloadTooLarge`; `invalidRequest` for a body that was cut off or came too slowly.
    static func read(_ body: RequestBody, upTo limit: Int) async throws(GatewayError) -> Data {
        var collected = Data()
        var total = 0
        let deadline = ContinuousClock.now + patience
        var isLate = false
        do {
            for try await chunk in body {
                total += chunk.readableBytes
                if total <= limit { collected.append(contentsOf: chunk.readableBytesView) }
                isLate = ContinuousClock.now > deadline
                if total > limit + drained || isLate { break }
            }
        } catch {
            throw .invalidRequest(field: "", reason: "the body was cut off")
        }
        guard !isLate else { throw .invalidRequest(field: "", reason: "the body came too slowly") }
        guard total <= limit else { throw .payloadTooLarge }
        return collected
    }
}
