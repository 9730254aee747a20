import ProviderKit

/// Texts of PayPal's that go into paths, logs and reasons.
enum PayPalText {
    /// Returns an id for a path; nil for text that could change the path.
    static func id(_ text: String?) -> String? { ServiceText.word(text) }

    /// Returns a code of PayPal's that is safe to show and log; nil for another form.
    static func word(_ text: String?) -> String? { ServiceText.word(text) }
}
