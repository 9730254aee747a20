import ProviderKit

/// Texts of PayPal's that go into paths, logs and reasons.
enum PayPalText {
    /// An id as a part of a path; nil for anything that could lead elsewhere.
    static func id(_ text: String?) -> String? { ServiceText.word(text) }

    /// A code of PayPal's, as safe to show as to log; nil for anything but words.
    static func word(_ text: String?) -> String? { ServiceText.word(text) }
}
