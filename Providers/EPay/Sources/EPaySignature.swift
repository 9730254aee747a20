import Crypto
import Domain
import FoundationEssentials
import ProviderKit

/// MD5 over the fields and the merchant's key, which is all that EPay (易支付) has.
///
/// Signed are all fields but `sign`, `sign_type` and the empty ones, decoded, sorted by name, joined as `name=value&…`,
/// and then the key, directly or after a word of the dialect's. It has no time, so an old notification stays good, and
/// one of its sentences is worth what MD5 is worth: Paydesk relies on the amount, the merchant and the event's id.
///
/// Nothing is escaped, so a text does not say where its fields end, and what Paydesk signs itself has the same form and
/// goes to the payer, who has a say in its `return_url`. So whatever holds `&notify_url=`, as all of Paydesk's own texts
/// do, is no notification, however it is cut into fields.
struct EPaySignature: Sendable {
    private static let unsigned: Set<String> = ["sign", "sign_type"]

    private let tail: ProviderSecret<String>
    private let isUpperCase: Bool

    /// - Parameter joiner: what stands between the fields and the key.
    init(key: ProviderSecret<String>, joiner: String, isUpperCase: Bool) {
        tail = ProviderSecret(joiner + key.value)
        self.isUpperCase = isUpperCase
    }

    /// Fields with their signature, as form text.
    func signed(_ fields: [String: String]) -> String {
        let text = FormFields.encoded(fields.filter { !$0.value.isEmpty })
        guard let form = FormFields(text.utf8) else { return text }
        let digits = Hex.encoded(digest(Self.text(form)))
        return FormFields.encoded(
            fields.filter { !$0.value.isEmpty }.merging([
                "sign": isUpperCase ? digits.uppercased() : digits, "sign_type": "MD5",
            ]) { $1 })
    }

    /// Returns whether the fields have their signature; its letters may be of either case.
    func isGenuine(_ form: FormFields) -> Bool {
        guard (form["sign_type"] ?? "MD5").uppercased() == "MD5",
            let code = form["sign"].flatMap({ Hex.decoded($0, count: Insecure.MD5.byteCount) })
        else { return false }
        let text = Self.text(form)
        guard text.firstRange(of: Data(Self.ownMark.utf8)) == nil else { return false }
        // This comparison takes the same time wherever they differ.
        return digest(text) == code
    }

    static let ownMark = "&notify_url="

    private static func text(_ form: FormFields) -> Data { form.joined(without: unsigned, dropsEmpty: true) }

    private func digest(_ text: Data) -> Insecure.MD5.Digest { Insecure.MD5.hash(data: text + Data(tail.value.utf8)) }
}
