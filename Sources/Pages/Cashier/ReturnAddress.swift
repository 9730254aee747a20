import Foundation

/// The address to which a payer goes back.
enum ReturnAddress {
    /// Returns an address with the order's id and status in its query.
    ///
    /// Existing fields of these names are replaced, the other ones and the fragment are kept.
    static func of(_ address: String, order: String, status: String) -> String {
        let (bare, fragment) = cut(address, at: "#")
        let (path, query) = cut(bare, at: "?")
        let kept = (query ?? "").split(separator: "&").filter { !["order_id", "status"].contains(name(of: $0)) }
        let word = status == "open" || status == "closed" ? status : "paid"
        let fields = kept.map(String.init) + ["order_id=\(order)", "status=\(word)"]
        return "\(path)?\(fields.joined(separator: "&"))" + (fragment.map { "#" + $0 } ?? "")
    }

    private static func cut(_ text: String, at mark: Character) -> (String, String?) {
        guard let place = text.firstIndex(of: mark) else { return (text, nil) }
        return (String(text[..<place]), String(text[text.index(after: place)...]))
    }

    private static func name(of field: Substring) -> String {
        let name = String(field.prefix { $0 != "=" }).replacing("+", with: " ")
        return name.removingPercentEncoding ?? name
    }
}
