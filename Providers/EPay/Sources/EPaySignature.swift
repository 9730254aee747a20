import Crypto
import Domain
import FoundationEssentials
import ProviderKit

/// MD5 over the fields and the merchant's key, EPay's (易支付) only signature.
///
/// The signed text has all fields except `sign`, `sign_type` and empty ones: decoded, sorted by name, joined as
/// `name=value&…`, followed by the key, directly or after a word of the dialect. It has no time, so an old notification
/// stays valid, and it is only as strong as MD5: Paydesk relies on the amount, the merchant and the event's id.
///
/// The text does not show where its fields end, because values are not escaped. The texts that Paydesk signs have the
/// same form and go to the payer, who influences their `return_url`. So a text with `&notify_url=`, which all of Paydesk's own
/// have, is never accepted as a notification, however it is divided into fields.
struct EPaySignature: Sendable {
    private static let unsigned: Set<String> = ["sign", "sign_type"]

    private let tail: ProviderSecret<String>
    private let isUpperCase: Bool

    /// - Parameter joiner: the text between the fields and the key.
    init(key: ProviderSecret<String>, joiner: String, isUpperCase: Bool) {
        tail = ProviderSecret(joiner + key.value)
        self.isUpperCase = isUpperCase
    }

    /// Encodes fields with their signature as form text.
    func signed(_ fields: [String: String]) -> String {
        let text = FormFields.encoded(fields.filter { !$0.value.isEmpty })
        guard let form = FormFields(text.utf8) else { return text }
        let digits = Hex.encoded(digest(Self.text(form)))
        return FormFields.encoded(
            fields.filter { !$0.value.isEmpty }.merging([
                "sign": isUpperCase ? digits.uppercased() : digits, "sign_type": "MD5",
            ]) { $1 })
    }

    /// Returns whether the fields have their signature, in upper or lower case.
    func isGenuine(_ form: FormFields) -> Bool {
        guard (form["sign_type"] ?? "MD5").uppercased() == "MD5",
            let code = form["sign"].flatMap({ Hex.decoded($0, count: Insecure.MD5.byteCount) })
        else { return false }
        let text = Self.text(form)
        guard text.firstRange(of: Data(Self.ownMark.utf8)) == nil else { return false }
        // The time of this comparison does not depend on the first difference.
        return digest(text) == code
    }

    static let ownMark = "&notify_url="

    private static func text(_ form: FormFields) -> Data { form.joined(without: unsigned, dropsEmpty: true) }

    private func digest(_ text: Data) -> Insecure.MD5.Digest { Insecure.MD5.hash(data: text + Data(tail.value.utf8)) }
}
