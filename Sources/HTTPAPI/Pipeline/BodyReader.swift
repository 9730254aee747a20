import Domain
import FoundationEssentials
import Gateway
import Hummingbird
import NIOCore

/// Reads a request's body up to its limit.
struct BodyReader: Sendable {
    /// The number of bytes of an over-long body that are read and dropped, so that the client sees the answer instead
    /// of a broken connection.
    private static let drained = 1 << 20

    let budget: ByteBudget
    /// The time limit of a whole body; between two pieces of it the server's idle timeout applies.
    var patience = Duration.seconds(20)

    /// Reads a body and counts it against the budget; the caller releases the bytes when the request is done.
    ///
    /// - Throws: `payloadTooLarge`; `invalidRequest` for a body that was cut off or came too slowly;
    ///   `temporarilyUnavailable` where all bodies together, or those of this holder, take too much memory.
    func read(
        _ body: RequestBody, upTo limit: Int, for holder: ByteBudget.Holder
    ) async throws(GatewayError) -> Data {
        var collected = Data()
        do throws(GatewayError) {
            try await collect(body, upTo: limit, for: holder, into: &collected)
        } catch {
            budget.giveBack(collected.count, for: holder)
            throw error
        }
        return collected
    }

    private func collect(
        _ body: RequestBody, upTo limit: Int, for holder: ByteBudget.Holder, into collected: inout Data
    ) async throws(GatewayError) {
        var total = 0
        let deadline = ContinuousClock.now + patience
        var isLate = false
        do {
            for try await chunk in body {
                total += chunk.readableBytes
                if total <= limit {
                    try budget.take(chunk.readableBytes, for: holder)
                    collected.append(contentsOf: chunk.readableBytesView)
                }
                isLate = ContinuousClock.now > deadline
                if total > limit + Self.drained || isLate { break }
            }
        } catch let error as GatewayError {
            throw error
        } catch {
            throw .invalidRequest(field: "", reason: "the body was cut off")
        }
        guard !isLate else { throw .invalidRequest(field: "", reason: "the body came too slowly") }
        guard total <= limit else { throw .payloadTooLarge }
    }
}
