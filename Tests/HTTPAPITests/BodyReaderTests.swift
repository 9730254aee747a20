import Domain
import Gateway
import Hummingbird
import NIOCore
import Testing

@testable import HTTPAPI

@Suite("Reading bodies")
struct BodyReaderTests {
    /// Makes a body of these pieces; where it is cut off, the rest never arrives.
    private func body(_ pieces: [Int], isWhole: Bool = true) -> RequestBody {
        struct CutOff: Error {}
        let (body, source) = RequestBody.makeStream()
        Task {
            for piece in pieces { await source.yield(ByteBuffer(repeating: 0x61, count: piece)) }
            if isWhole { source.finish() } else { source.finish(CutOff()) }
        }
        return body
    }

    /// Pieces, the time limit, and the refusal; nil where the body is read.
    static let bodies: [(pieces: [Int], isWhole: Bool, patience: Duration, refusal: GatewayError?)] = [
        ([], true, .seconds(20), nil), ([10, 20], true, .seconds(20), nil), ([64], true, .seconds(20), nil),
        ([60, 5], true, .seconds(20), .payloadTooLarge),
        ([10], false, .seconds(20), .invalidRequest(field: "", reason: "the body was cut off")),
        // The time limit has passed when the first piece arrives.
        ([10, 20], true, .zero, .invalidRequest(field: "", reason: "the body came too slowly")),
        ([60, 5], true, .zero, .invalidRequest(field: "", reason: "the body came too slowly")),
    ]

    @Test(arguments: bodies)
    func `a body is read within its size and its time, or all of it is given back`(
        _ pieces: [Int], _ isWhole: Bool, _ patience: Duration, _ refusal: GatewayError?
    ) async throws {
        let budget = ByteBudget(bytes: 64)
        let reader = BodyReader(budget: budget, patience: patience)
        let body = body(pieces, isWhole: isWhole)
        if let refusal {
            await #expect(throws: refusal) { try await reader.read(body, upTo: 64, for: .stranger(nil)) }
        } else {
            let read = try await reader.read(body, upTo: 64, for: .stranger(nil))
            #expect(read.count == pieces.reduce(0, +))
            budget.giveBack(read.count, for: .stranger(nil))
        }
        // Bytes that were counted and not released would be missing here.
        #expect(throws: Never.self) { try budget.take(64, for: .stranger(nil)) }
    }
}
