import Metrics

/// Counts signed offers by their kind: `paydesk_offers_signed_total{kind}`.
struct OfferMeter: Sendable {
    enum Kind: String, CaseIterable {
        case promotional, introductory
        /// A promotional offer in Apple's first form.
        case legacy
    }

    private let counters: [Kind: Counter]

    init() {
        counters = Dictionary(
            uniqueKeysWithValues: Kind.allCases.map {
                ($0, Counter(label: "paydesk_offers_signed_total", dimensions: [("kind", $0.rawValue)]))
            })
    }

    func count(_ kind: Kind) { counters[kind]?.increment() }
}
