import Domain
import Testing

struct PaymentStateTests {
    private typealias Row = (Payment.State, Payment.State.Fact, Payment.State, Anomaly?)

    private static let table: [Row] = [
        (.created, .accepted, .pending, nil),
        (.created, .succeeded, .succeeded, nil),
        (.created, .failed, .failed, nil),
        (.created, .cancelled, .cancelled, nil),
        (.created, .outcomeUnknown, .unknown, nil),
        (.pending, .accepted, .pending, nil),
        (.pending, .succeeded, .succeeded, nil),
        (.pending, .failed, .failed, nil),
        (.pending, .cancelled, .cancelled, nil),
        (.pending, .outcomeUnknown, .unknown, nil),
        (.unknown, .accepted, .pending, nil),
        (.unknown, .succeeded, .succeeded, nil),
        (.unknown, .failed, .failed, nil),
        (.unknown, .cancelled, .cancelled, nil),
        (.unknown, .outcomeUnknown, .unknown, nil),
        (.failed, .accepted, .failed, nil),
        (.failed, .succeeded, .succeeded, .revivedPayment),
        (.failed, .failed, .failed, nil),
        (.failed, .cancelled, .failed, nil),
        (.failed, .outcomeUnknown, .failed, nil),
        (.cancelled, .accepted, .cancelled, nil),
        (.cancelled, .succeeded, .succeeded, .latePayment),
        (.cancelled, .failed, .cancelled, nil),
        (.cancelled, .cancelled, .cancelled, nil),
        (.cancelled, .outcomeUnknown, .cancelled, nil),
        (.succeeded, .accepted, .succeeded, nil),
        (.succeeded, .succeeded, .succeeded, nil),
        (.succeeded, .failed, .succeeded, .contradictingFact),
        (.succeeded, .cancelled, .succeeded, .contradictingFact),
        (.succeeded, .outcomeUnknown, .succeeded, nil),
    ]

    @Test(arguments: table)
    func `a fact moves a payment along the table`(
        _ from: Payment.State, _ fact: Payment.State.Fact, _ to: Payment.State, _ anomaly: Anomaly?
    ) {
        let move = from.applying(fact)
        #expect(move.state == to)
        #expect(move.anomaly == anomaly)
    }

    @Test func `the table has every state and fact once`() {
        let rows = Set(Self.table.map { "\($0.0)/\($0.1)" })
        #expect(rows.count == Self.table.count)
        #expect(rows.count == Payment.State.allCases.count * Payment.State.Fact.allCases.count)
    }

    @Test func `a success among the facts wins in any order`() {
        for facts in sequences(Payment.State.Fact.allCases, upTo: 5) {
            let state = facts.reduce(Payment.State.created) { $0.applying($1).state }
            #expect((state == .succeeded) == facts.contains(.succeeded), "\(facts)")
        }
    }

    @Test func `without a success the first end stays, else the last word`() {
        for facts in sequences(Payment.State.Fact.allCases, upTo: 5) where !facts.contains(.succeeded) {
            let state = facts.reduce(Payment.State.created) { $0.applying($1).state }
            let expected: Payment.State =
                switch facts.first(where: { $0 == .failed || $0 == .cancelled }) {
                case .failed: .failed
                case .cancelled: .cancelled
                default: facts.last == .accepted ? .pending : .unknown
                }
            #expect(state == expected, "\(facts)")
        }
    }

    @Test(arguments: Payment.State.allCases, Payment.State.Fact.allCases)
    func `the same fact again changes nothing more`(_ from: Payment.State, _ fact: Payment.State.Fact) {
        let state = from.applying(fact).state
        #expect(state.applying(fact).state == state)
    }

    @Test(
        arguments: [
            (.created, false), (.pending, false), (.unknown, false), (.succeeded, true), (.failed, true),
            (.cancelled, true),
        ] as [(Payment.State, Bool)])
    func `an end is final`(_ state: Payment.State, _ isFinal: Bool) {
        #expect(state.isFinal == isFinal)
    }
}
