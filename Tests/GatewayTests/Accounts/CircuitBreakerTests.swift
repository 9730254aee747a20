import ProviderTesting
import Testing

@testable import Gateway

@Suite("The health of an account")
struct CircuitBreakerTests {
    /// A step of a breaker's test.
    enum Step: Sendable {
        case ok, fail, refuse, insist(CircuitBreaker.Ending)
        case other(CircuitBreaker.Ending)
        case pass(Int64)
    }

    /// Applies the steps to a new breaker; an opening begins and ends at once.
    private static func run(_ steps: [Step]) -> (breaker: CircuitBreaker, now: Int64) {
        var (breaker, now) = (CircuitBreaker(), Int64(1_000_000))
        func open(_ ending: CircuitBreaker.Ending, insists: Bool) {
            guard let call = breaker.beginOpening(insists: insists, at: now) else { return }
            breaker.end(call, ending, at: now)
        }
        for step in steps {
            switch step {
            case .ok: open(.answered, insists: false)
            case .fail: open(.failed, insists: false)
            case .refuse: open(.unused, insists: false)
            case .insist(let ending): open(ending, insists: true)
            case .other(let ending): breaker.end(breaker.beginOther(), ending, at: now)
            case .pass(let milliseconds): now += milliseconds
            }
        }
        return (breaker, now)
    }

    /// Returns whether an opening that does not insist is refused, without changing the breaker.
    private static func isRefused(_ breaker: CircuitBreaker, at now: Int64) -> Bool {
        var copy = breaker
        return copy.beginOpening(insists: false, at: now) == nil
    }

    private static let opened = [Step](repeating: .fail, count: 5)

    @Test(
        arguments: [
            ([], .closed), (.init(repeating: .fail, count: 4), .closed), (opened, .open),
            ([.fail, .fail, .fail, .fail, .ok, .fail, .fail, .fail, .fail], .closed),
            // An answer to a query does not reset the count of failed openings.
            ([.fail, .other(.answered), .fail, .other(.answered), .fail, .fail, .other(.answered), .fail], .open),
            ([.fail, .fail, .fail, .fail, .refuse, .fail], .open),
            (.init(repeating: .refuse, count: 50), .closed), (.init(repeating: .other(.failed), count: 15), .closed),
            (.init(repeating: .other(.failed), count: 16), .open),
            // Every second or third of many calls fails.
            ([[Step]](repeating: [.fail, .ok], count: 15).flatMap(\.self), .closed),
            ([[Step]](repeating: [.fail, .ok], count: 16).flatMap(\.self), .open),
            ([[Step]](repeating: [.fail, .ok, .ok], count: 200).flatMap(\.self), .closed),
            (opened + [.pass(4_999)], .open), (opened + [.pass(5_000)], .halfOpen),
            (opened + [.pass(5_000), .ok], .closed), (opened + [.pass(5_000), .refuse], .halfOpen),
            // Each failed trial doubles the pause.
            (opened + [.pass(5_000), .fail, .pass(9_999)], .open),
            (opened + [.pass(5_000), .fail, .pass(10_000)], .halfOpen),
            (opened + [.pass(5_000), .fail, .pass(10_000), .fail, .pass(19_999)], .open),
            (opened + [Step](repeating: .pass(300_000), count: 1) + [.fail, .pass(5_000)], .open),
            (
                opened + [[Step]](repeating: [.pass(300_000), .fail], count: 20).flatMap(\.self) + [.pass(300_000)],
                .halfOpen
            ),
            // A breaker that was closed counts from zero.
            (opened + [.pass(5_000), .ok, .fail, .fail, .fail, .fail], .closed),
            (opened + [.pass(5_000), .fail, .pass(10_000), .ok] + opened + [.pass(5_000)], .halfOpen),
            // The result of a call that insisted counts too, but never extends the pause.
            (opened + [.insist(.answered)], .closed), (opened + [.insist(.failed), .pass(5_000)], .halfOpen),
            (opened + [.other(.answered)], .open), (opened + [.other(.failed), .pass(5_000)], .halfOpen),
            // A clock that was set back or far ahead ends the pause.
            (opened + [.pass(-1)], .halfOpen), (opened + [.pass(-86_400_000), .ok], .closed),
            (opened + [.pass(.max / 2)], .halfOpen),
        ] as [([Step], CircuitBreaker.Health)])
    func `it opens when too many openings fail, and closes by a trial`(
        steps: [Step], health: CircuitBreaker.Health
    ) {
        let (breaker, now) = Self.run(steps)
        #expect(breaker.health(at: now) == health)
        #expect(breaker.isHealthy(at: now) == (health != .open))
    }

    @Test func `one trial is under way at once, and a lost one is given up`() throws {
        var (breaker, now) = Self.run(Self.opened + [.pass(5_000)])
        let trialCall = breaker.beginOpening(insists: false, at: now)
        let trial = try #require(trialCall)
        #expect(trial.isTrial && !breaker.isHealthy(at: now) && breaker.health(at: now) == .halfOpen)
        #expect(Self.isRefused(breaker, at: now))
        let insistingCall = breaker.beginOpening(insists: true, at: now)
        let insisting = try #require(insistingCall)
        #expect(!insisting.isTrial)
        breaker.end(insisting, .failed, at: now)
        #expect(Self.isRefused(breaker, at: now))
        now += 120_000
        let secondCall = breaker.beginOpening(insists: false, at: now)
        let second = try #require(secondCall)
        #expect(second.isTrial)
        // The end of the abandoned trial changes nothing.
        breaker.end(trial, .failed, at: now)
        #expect(breaker.health(at: now) == .halfOpen && Self.isRefused(breaker, at: now))
        breaker.end(second, .answered, at: now)
        #expect(breaker.health(at: now) == .closed)
        breaker.end(insisting, .failed, at: now)
        #expect(breaker.health(at: now) == .closed)
    }

    @Test func `calls that began before it opened do not decide about what came after`() throws {
        var (breaker, now) = (CircuitBreaker(), Int64(0))
        let early = (0..<20).compactMap { _ in breaker.beginOpening(insists: false, at: now) }
        #expect(early.count == 20)
        for call in early.prefix(5) { breaker.end(call, .failed, at: now) }
        #expect(breaker.health(at: now) == .open)
        breaker.end(early[5], .answered, at: now)
        #expect(breaker.health(at: now) == .open)
        now += 5_000
        let trialCall = breaker.beginOpening(insists: false, at: now)
        let trial = try #require(trialCall)
        breaker.end(trial, .answered, at: now)
        for call in early.dropFirst(6) { breaker.end(call, .failed, at: now) }
        #expect(breaker.health(at: now) == .closed)
    }

    @Test(arguments: 0..<200)
    func `whatever happens it is never stuck, and one trial runs at once`(seed: UInt64) throws {
        let rules = CircuitBreaker.Rules()
        var dice = SplitMix64(seed)
        var (breaker, now) = (CircuitBreaker(), Int64(10_000_000))
        var calls: [CircuitBreaker.Call] = []
        var trials: [(call: CircuitBreaker.Call, since: Int64)] = []
        var (failedSinceClosed, latest) = (false, now)
        let isBad = UInt64.random(in: 0...10, using: &dice)
        for _ in 0..<400 {
            switch UInt64.random(in: 0..<10, using: &dice) {
            case 0..<4:
                let (isHealthy, wasClosed) = (breaker.isHealthy(at: now), breaker.health(at: now) == .closed)
                let insists = Bool.random(using: &dice)
                let call = breaker.beginOpening(insists: insists, at: now)
                #expect((call != nil) == (isHealthy || insists))
                #expect(call?.isTrial != true || (isHealthy && !wasClosed))
                if let call {
                    calls.append(call)
                    if call.isTrial {
                        trials.removeAll { !(0..<rules.longestTrial).contains(now - $0.since) }
                        #expect(trials.isEmpty)
                        trials.append((call, now))
                    }
                }
            case 4: calls.append(breaker.beginOther())
            case 5..<9:
                guard let index = calls.indices.randomElement(using: &dice) else { continue }
                let call = calls.remove(at: index)
                trials.removeAll { $0.call == call }
                let isFailure = UInt64.random(in: 0..<10, using: &dice) < isBad
                failedSinceClosed = failedSinceClosed || isFailure
                breaker.end(call, isFailure ? .failed : Bool.random(using: &dice) ? .answered : .unused, at: now)
                // A closing, or a new opening, makes all earlier trials obsolete.
                if breaker.health(at: now) != .halfOpen { trials = [] }
            default: now += Int64.random(in: -20_000...400_000, using: &dice)
            }
            if !failedSinceClosed { #expect(breaker.health(at: now) == .closed) }
            var later = breaker
            latest = max(latest, now)
            let end = latest + max(rules.longestPause, rules.longestTrial)
            #expect(later.isHealthy(at: end))
            let reopening = later.beginOpening(insists: false, at: end)
            let call = try #require(reopening)
            later.end(call, .answered, at: end)
            #expect(later.health(at: end) == .closed)
        }
    }
}
