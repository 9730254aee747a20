import Domain
import Foundation
import ProviderKit

/// Apple Pay's own kinds of settings.
extension ProviderSettingsReader {
    func text(_ name: String, upTo limit: Int) -> String {
        let text = settings.text(name)
        if !(1...limit).contains(text.utf8.count) {
            fault(name, text.isEmpty ? "is empty" : "is too long", "Use 1 to \(limit) bytes.")
        }
        return text
    }

    func domain(_ name: String) -> String {
        let text = settings.text(name)
        guard let address = WebAddress("https://\(text)/"), address.host == text, text.contains("."),
            text == text.lowercased(), !text.hasSuffix(".")
        else {
            fault(name, "is no domain name", "Write it as registered with Apple, shop.example.com.")
            return text
        }
        return text
    }

    func country(_ name: String) -> String {
        let text = settings.text(name)
        if !text.hasBytes(2...2, where: \.isCapital) {
            fault(name, "is no country", "Write two capital letters, CN.")
        }
        return text
    }

    /// Reads names of Apple's: letters and digits.
    func words(_ name: String) -> [String] {
        let words = settings.texts(name)
        let areWords = words.allSatisfy { $0.hasBytes(1...64, where: \.isLetterOrDigit) }
        if words.isEmpty || !areWords { fault(name, "has no word, or one that is none", "Use Apple's words.") }
        // Apple requires it in ApplePayPaymentRequest.merchantCapabilities.
        if name == "merchant_capabilities", !words.contains("supports3DS") {
            fault(name, "lacks supports3DS, which Apple demands", "Add it.")
        }
        return words
    }

    /// Reads the gateway; in production it must be one of Apple's, so that no other server sees the identity.
    func gateway(_ name: String) -> String {
        let text = settings.text(name).isEmpty ? ApplePayGateway.standard : settings.text(name)
        guard let address = WebAddress(text), address.scheme == "https" else {
            fault(name, "is no https address", "Use \(ApplePayGateway.standard).")
            return text
        }
        if !isDevelopment, !ApplePayGateway.isConfigurable(text) {
            fault(name, "is none of Apple's gateways", "Use \(ApplePayGateway.standard), or its cn- or -cert name.")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// - Returns: nil for an empty path, and after a fault.
    func file(_ setting: String, _ path: String, limit: Int) -> [UInt8]? {
        guard !path.isEmpty else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            fault(setting, "cannot be read", "Name a file that this process may read.")
            return nil
        }
        guard (1...limit).contains(data.count) else {
            fault(setting, data.isEmpty ? "is empty" : "is too large", "Name the file that Apple gave.")
            return nil
        }
        return Array(data)
    }

    /// - Returns: nil where both are empty, and after a fault.
    func pair(_ setting: String, _ pair: ProviderSettings, limit: Int) -> ApplePaySettings.KeyPair? {
        let (path, key) = (pair.text("certificate"), pair.text("private_key"))
        guard !path.isEmpty || !key.isEmpty else { return nil }
        guard !path.isEmpty, !key.isEmpty else {
            fault(
                "\(setting).\(path.isEmpty ? "certificate" : "private_key")", "is missing",
                "A certificate and its key belong together.")
            return nil
        }
        return file("\(setting).certificate", path, limit: limit).map {
            ApplePaySettings.KeyPair(setting: setting, certificate: $0, privateKey: Array(key.utf8))
        }
    }
}
