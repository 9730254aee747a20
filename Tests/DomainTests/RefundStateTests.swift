import Domain
import Testing

struct RefundStateTests {
    private typealias Row = (Refund.State, Refund.State.Fact, Refund.State)

    private static let table: [Row] = [
        (.created, .accepted, .pending),
        (.created, .succeeded, .succeeded),
        (.created, .failed, .failed),
        (.created, .reversed, .reversed),
        (.created, .outcomeUnknown, .unknown),
        (.pending, .accepted, .pending),
        (.pending, .succeeded, .succeeded),
        (.pending, .failed, .failed),
        (.pending, .reversed, .reversed),
        (.pending, .outcomeUnknown, .unknown),
        (.unknown, .accepted, .pending),
        (.unknown, .succeeded, .succeeded),
        (.unknown, .failed, .failed),
        (.unknown, .reversed, .reversed),
        (.unknown, .outcomeUnknown, .unknown),
        (.succeeded, .accepted, .succeeded),
        (.succeeded, .succeeded, .succeeded),
        (.succeeded, .failed, .failed),
        (.succeeded, .reversed, .reversed),
        (.succeeded, .outcomeUnknown, .succeeded),
        (.failed, .accepted, .failed),
        (.failed, .succeeded, .failed),
        (.failed, .failed, .failed),
        (.failed, .reversed, .failed),
        (.failed, .outcomeUnknown, .failed),
        (.reversed, .accepted, .reversed),
        (.reversed, .succeeded, .reversed),
        (.reversed, .failed, .reversed),
        (.reversed, .reversed, .reversed),
        (.reversed, .outcomeUnknown, .reversed),
    ]

    @Test(arguments: table)
    func `a fact moves a refund along the table`(
        _ from: Refund.State, _ fact: Refund.State.Fact, _ to: Refund.State
    ) {
        let move = from.applying(fact)
        #expect(move.state == to)
        #expect(move.anomaly == (from == .failed && fact == .succeeded ? .contradictingFact : nil))
    }

    @Test func `the table has every state and fact once`() {
        let rows = Set(Self.table.map { "\($0.0)/\($0.1)" })
        #expect(rows.count == Self.table.count)
        #expect(rows.count == Refund.State.allCases.count * Refund.State.Fact.allCases.count)
    }

    @Test func `a success that nothing took back wins in any order`() {
        for facts in sequences(Refund.State.Fact.allCases, upTo: 5) where facts.contains(.succeeded) {
            let state = facts.reduce(Refund.State.created) { $0.applying($1).state }
            if !facts.contains(.failed) && !facts.contains(.reversed) { #expect(state == .succeeded, "\(facts)") }
            if !facts.contains(.failed) { #expect(state == .succeeded || state == .reversed, "\(facts)") }
        }
    }

    @Test func `a failure among the facts frees the amount in any order`() {
        for facts in sequences(Refund.State.Fact.allCases, upTo: 5) {
            let state = facts.reduce(Refund.State.created) { $0.applying($1).state }
            if facts.contains(.failed) { #expect(!state.isBinding, "\(facts)") }
            if !facts.contains(.failed) && !facts.contains(.reversed) { #expect(state.isBinding, "\(facts)") }
            if !facts.contains(.succeeded) { #expect(state != .succeeded, "\(facts)") }
        }
    }

    @Test func `what Apple took back stays so in any order`() {
        for facts in sequences(Refund.State.Fact.allCases, upTo: 5) where !facts.contains(.failed) {
            let state = facts.reduce(Refund.State.created) { $0.applying($1).state }
            #expect((state == .reversed) == facts.contains(.reversed), "\(facts)")
        }
    }

    @Test(
        arguments: [
            (.created, true), (.pending, true), (.unknown, true), (.succeeded, true), (.failed, false),
            (.reversed, false),
        ] as [(Refund.State, Bool)])
    func `an amount is bound until it is known not to leave`(_ state: Refund.State, _ isBinding: Bool) {
        #expect(state.isBinding == isBinding)
    }
}

struct DisputeStateTests {
    private static func dispute(_ state: Dispute.State, at time: Int64) -> Dispute {
        Dispute(
            id: ID("dsp_01jhgx0000000000000000000a")!, order: ID("ord_01jhgx0000000000000000000a")!,
            payment: ID("pay_01jhgx0000000000000000000a")!, reference: "d",
            amount: Money(value: 1, currency: Currency("CNY")!), state: state, createdAt: Timestamp(0),
            toldAt: Timestamp(time))
    }

    private typealias Row = (Dispute.State, Dispute.State, seconds: Int64, Bool)

    /// A newer state always follows; of two in the same second an end follows an opening, and a loss follows a win, in a
    /// dispute that was not open before.
    private static let table: [Row] =
        Dispute.State.allCases.flatMap { from in
            Dispute.State.allCases.flatMap { to -> [Row] in [(from, to, 1, true), (from, to, -1, false)] }
        } + [
            (.open, .won, 0, true), (.open, .lost, 0, true), (.won, .lost, 0, true), (.won, .open, 0, false),
            (.lost, .open, 0, false), (.lost, .won, 0, false), (.open, .open, 0, false), (.won, .won, 0, false),
            (.lost, .lost, 0, false),
        ]

    @Test(arguments: table)
    func `the newest state of a dispute counts`(
        _ from: Dispute.State, _ to: Dispute.State, _ seconds: Int64, _ follows: Bool
    ) {
        let time = Timestamp(100 + seconds)
        #expect(Self.dispute(from, at: 100).isFollowed(by: to, at: time, wasOpen: false) == follows)
        // A dispute that was open and has ended is opened again, also within the second of its end.
        let isOpenedAgain = seconds == 0 && from != .open && to == .open
        #expect(Self.dispute(from, at: 100).isFollowed(by: to, at: time, wasOpen: true) == (follows || isOpenedAgain))
    }

    @Test func `every order of arrival leads to one state`() {
        let facts: [(Dispute.State, Int64)] = [(.open, 10), (.won, 20), (.open, 20), (.lost, 30), (.won, 30)]
        var ends: Set<Dispute.State> = []
        for shift in 0..<facts.count {
            for order in [facts, facts.reversed()] {
                let told = Array(order[shift...] + order[..<shift])
                let end = told.reduce(into: Self.dispute(told[0].0, at: told[0].1)) { dispute, fact in
                    guard dispute.isFollowed(by: fact.0, at: Timestamp(fact.1), wasOpen: false) else { return }
                    dispute.state = fact.0
                    dispute.toldAt = Timestamp(fact.1)
                }
                ends.insert(end.state)
            }
        }
        #expect(ends == [.lost])
    }
}
