/// The language of an explanation, English or Simplified Chinese, with its sentences.
///
/// Days are those of UTC, in the form of ISO 8601.
struct ExplanationLanguage: Sendable {
    private let isChinese: Bool

    /// - Parameter languages: the caller's languages, the preferred first; English where none is supported.
    init(_ languages: [String]) {
        let known = languages.lazy.map { $0.lowercased().prefix { $0 != "-" } }.first { $0 == "zh" || $0 == "en" }
        isChinese = known == "zh"
    }

    var orders: OrderSentences { OrderSentences(language: self) }
    var subscriptions: SubscriptionSentences { SubscriptionSentences(language: self) }
    var ownership: OwnershipSentences { OwnershipSentences(language: self) }

    func pick(_ english: String, _ chinese: String) -> String { isChinese ? chinese : english }

    func joined(_ sentences: [String]) -> String {
        sentences.filter { !$0.isEmpty }.joined(separator: isChinese ? "" : " ")
    }

    var earlier: String { pick("What happened earlier is left out.", "更早的记录从略。") }
}
