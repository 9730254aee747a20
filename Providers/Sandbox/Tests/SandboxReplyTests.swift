import Domain
import ProviderKit
import ProviderTesting
import SandboxProvider
import Synchronization
import Testing

struct SandboxReplyTests {
    private final class Naps: Sendable {
        private let taken = Mutex<[Duration]>([])
        var all: [Duration] { taken.withLock { $0 } }
        func take(_ nap: Duration) { taken.withLock { $0.append(nap) } }
    }

    private func callEverything(_ provider: SandboxProvider, _ bench: SandboxFixture) async {
        let attempt = bench.attempt()
        let refund = bench.refund(attempt, cny(1))
        _ = try? await provider.open(attempt)
        _ = try? await provider.query(bench.reference(attempt))
        _ = try? await provider.cancel(bench.reference(attempt))
        _ = try? await provider.refund(refund)
        _ = try? await provider.query(refund: refund)
    }

    @Test(
        arguments: [
            (0, "normal", nil), (1, "normal", .milliseconds(1)), (250, "lost", .milliseconds(250)),
            (250, "error", .milliseconds(250)), (0, "slow", .seconds(5)), (250, "slow", .milliseconds(5_250)),
        ] as [(Int64, String, Duration?)])
    func `every call takes the delay`(milliseconds: Int64, reply: String, nap: Duration?) async throws {
        let bench = SandboxFixture()
        let naps = Naps()
        let provider = try bench.provider(
            ["delay_ms": .integer(milliseconds), "reply": .text(reply)], sleep: { naps.take($0) })
        await callEverything(provider, bench)
        #expect(naps.all == (nap.map { Array(repeating: $0, count: 5) } ?? []))
    }

    @Test func `a call that is cancelled while it waits has no effect`() async throws {
        let bench = SandboxFixture()
        let provider = try bench.provider(["delay_ms": .integer(1)], sleep: { _ in throw CancellationError() })
        await #expect(throws: ProviderError.unavailable) { try await provider.open(bench.attempt()) }
        #expect(await bench.book.entries.isEmpty)
    }

    @Test func `without a sleeper of its own it waits by the clock of the machine`() async throws {
        let bench = SandboxFixture()
        let provider = try SandboxProvider(
            account: SandboxFixture.account(["delay_ms": .integer(1)]), context: bench.context)
        #expect(try await provider.open(bench.attempt()).outcome == .accepted)
    }

    @Test func `with lost replies changes take effect and queries work`() async throws {
        let bench = SandboxFixture()
        let provider = try bench.provider(["reply": .text("lost")])
        let attempt = bench.attempt()
        let refund = bench.refund(attempt, cny(1_000))
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.open(attempt) }
        #expect(try await provider.query(bench.reference(attempt)).outcome == .accepted)
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.cancel(bench.reference(attempt)) }
        #expect(try await provider.query(bench.reference(attempt)).outcome == .cancelled)
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.refund(refund) }
        #expect(try await provider.query(refund: refund).outcome == .succeeded)
    }

    @Test func `with errors nothing happens at all`() async throws {
        let bench = SandboxFixture()
        await callEverything(try bench.provider(["reply": .text("error")]), bench)
        #expect(await bench.book.entries.isEmpty)
    }

    @Test func `a refusal is lost like any other answer`() async throws {
        let bench = SandboxFixture()
        let provider = try bench.provider(["reply": .text("lost")])
        let refund = bench.refund(bench.attempt(), cny(4_000))
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.refund(refund) }
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "unknown_refund"))
    }
}
