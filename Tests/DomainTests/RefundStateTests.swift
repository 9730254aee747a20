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
    private typealias Row = (Dispute.State, Dispute.State, Dispute.State, Anomaly?)

    private static let table: [Row] = [
        (.open, .open, .open, nil),
        (.open, .won, .won, nil),
        (.open, .lost, .lost, nil),
        (.won, .open, .won, nil),
        (.won, .won, .won, nil),
        (.won, .lost, .won, .contradictingFact),
        (.lost, .open, .lost, nil),
        (.lost, .won, .lost, .contradictingFact),
        (.lost, .lost, .lost, nil),
    ]

    @Test(arguments: table)
    func `a dispute ends once`(
        _ from: Dispute.State, _ fact: Dispute.State, _ to: Dispute.State, _ anomaly: Anomaly?
    ) {
        let move = from.applying(fact)
        #expect(move.state == to)
        #expect(move.anomaly == anomaly)
    }

    @Test func `the table has every state and fact once`() {
        #expect(Set(Self.table.map { "\($0.0)/\($0.1)" }).count == Self.table.count)
        #expect(Self.table.count == Dispute.State.allCases.count * Dispute.State.allCases.count)
    }

    @Test func `the first end among the facts stays in any order`() {
        for facts in sequences(Dispute.State.allCases, upTo: 5) {
            let state = facts.reduce(Dispute.State.open) { $0.applying($1).state }
            #expect(state == facts.first { $0 != .open } ?? .open, "\(facts)")
        }
    }
}
