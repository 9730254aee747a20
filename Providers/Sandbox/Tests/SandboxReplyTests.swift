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

    private func callEverything(_ provider: SandboxProvider, _ fixture: SandboxFixture) async {
        let attempt = fixture.attempt()
        let refund = fixture.refund(attempt, cny(1))
        _ = try? await provider.open(attempt)
        _ = try? await provider.query(fixture.reference(attempt))
        _ = try? await provider.cancel(fixture.reference(attempt))
        _ = try? await provider.refund(refund)
        _ = try? await provider.query(refund: refund)
    }

    @Test(
        arguments: [
            (0, "normal", nil), (1, "normal", .milliseconds(1)), (250, "lost", .milliseconds(250)),
            (250, "error", .milliseconds(250)), (0, "slow", .seconds(5)), (250, "slow", .milliseconds(5_250)),
        ] as [(Int64, String, Duration?)])
    func `every call takes the delay`(milliseconds: Int64, reply: String, nap: Duration?) async throws {
        let fixture = SandboxFixture()
        let naps = Naps()
        let provider = try fixture.provider(
            ["delay_ms": .integer(milliseconds), "reply": .text(reply)], sleep: { naps.take($0) })
        await callEverything(provider, fixture)
        #expect(naps.all == (nap.map { Array(repeating: $0, count: 5) } ?? []))
    }

    @Test func `a call that is cancelled while it waits has no effect`() async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider(["delay_ms": .integer(1)], sleep: { _ in throw CancellationError() })
        await #expect(throws: ProviderError.unavailable) { try await provider.open(fixture.attempt()) }
        #expect(await fixture.book.entries.isEmpty)
    }

    @Test func `without a sleeper of its own it waits by the clock of the machine`() async throws {
        let fixture = SandboxFixture()
        let provider = try SandboxProvider(
            account: SandboxFixture.account(["delay_ms": .integer(1)]), context: fixture.context)
        #expect(try await provider.open(fixture.attempt()).outcome == .accepted)
    }

    @Test func `with lost replies changes take effect and queries work`() async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider(["reply": .text("lost")])
        let attempt = fixture.attempt()
        let refund = fixture.refund(attempt, cny(1_000))
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.open(attempt) }
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .accepted)
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.cancel(fixture.reference(attempt)) }
        #expect(try await provider.query(fixture.reference(attempt)).outcome == .cancelled)
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.refund(refund) }
        #expect(try await provider.query(refund: refund).outcome == .succeeded)
    }

    @Test func `with errors nothing happens at all`() async throws {
        let fixture = SandboxFixture()
        await callEverything(try fixture.provider(["reply": .text("error")]), fixture)
        #expect(await fixture.book.entries.isEmpty)
    }

    @Test func `a refusal is lost like any other answer`() async throws {
        let fixture = SandboxFixture()
        let provider = try fixture.provider(["reply": .text("lost")])
        let refund = fixture.refund(fixture.attempt(), cny(4_000))
        await #expect(throws: ProviderError.outcomeUnknown) { try await provider.refund(refund) }
        #expect(try await provider.query(refund: refund).outcome == .failed(reason: "unknown_refund"))
    }
}
