import Crypto
import Domain
import FoundationEssentials
import ProviderKit

/// A secret that descriptions, reflection and dumps do not show.
struct RemoteSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    static let prefix = "whsec_"

    private let bytes: Data

    /// - Returns: nil for text other than `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks, "Secret keys").
    init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), text.utf8.count <= 128,
            let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))), (24...64).contains(bytes.count)
        else { return nil }
        self.bytes = bytes
    }

    fileprivate var key: SymmetricKey { SymmetricKey(data: bytes) }

    var description: String { "<secret>" }
    var debugDescription: String { "<secret>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The headers of a message in Standard Webhooks: its id, its time and its signatures.
struct RemoteSeal: Sendable {
    static let id = "webhook-id"
    static let time = "webhook-timestamp"
    static let signature = "webhook-signature"

    let id: String
    let timestamp: Int64
    /// The signatures in the header's form: `v1,…`, separated by spaces.
    let signatures: String

    /// - Returns: nil where a header is missing or has another form.
    init?(_ header: (String) -> String?) {
        guard let id = header(Self.id), RemoteText.isEventID(id), let time = header(Self.time),
            time.isDigits(1...15),
            let timestamp = Int64(time), let signatures = header(Self.signature), signatures.utf8.count <= 2_048
        else { return nil }
        self.id = id
        self.timestamp = timestamp
        self.signatures = signatures
    }

    private init(id: String, timestamp: Int64, signatures: String) {
        self.id = id
        self.timestamp = timestamp
        self.signatures = signatures
    }

    /// Signs a message of Paydesk's.
    init(id: String, timestamp: Int64, body: Data, secret: RemoteSecret) {
        let blank = RemoteSeal(id: id, timestamp: timestamp, signatures: "")
        let code = HMAC<SHA256>.authenticationCode(for: blank.signed(body), using: secret.key)
        self.init(id: id, timestamp: timestamp, signatures: "v1," + Data(code).base64EncodedString())
    }

    var headers: [(name: String, value: String)] {
        [
            (name: Self.id, value: id), (name: Self.time, value: "\(timestamp)"),
            (name: Self.signature, value: signatures),
        ]
    }

    /// Returns whether one of the signatures is made with one of the secrets over this body.
    func isGenuine(_ body: Data, _ secrets: [RemoteSecret]) -> Bool {
        let signed = signed(body)
        let codes = signatures.split(separator: " ").prefix(16).compactMap { word -> Data? in
            guard word.hasPrefix("v1,") else { return nil }
            return Data(base64Encoded: String(word.dropFirst(3)))
        }
        // The code of each secret is computed once, whatever the number of signatures; the time of its comparison does
        // not depend on the first difference.
        return secrets.contains { secret in
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: secret.key)
            return codes.contains { code == $0 }
        }
    }

    /// Returns whether the time is within five minutes of now, before or after.
    func isTimely(at now: Int64) -> Bool { (now - RemoteLimits.window...now + RemoteLimits.window).contains(timestamp) }

    /// Makes the signed text; the id has no dot, so the text is unambiguous.
    private func signed(_ body: Data) -> Data { Data("\(id).\(timestamp).".utf8) + body }
}

/// The limits of the protocol, from `openapi.yaml`.
enum RemoteLimits {
    /// The seconds between a signature's time and now.
    static let window: Int64 = 300
    static let callMilliseconds: Int64 = 10_000
    /// The limit of each body in bytes, in both directions.
    static let body = 64 << 10
}

/// Checks texts of a plugin; text beyond the limits is not used.
enum RemoteText {
    /// Returns a status, a reason or a type: letters, digits, `_`, `-` and `.`, at most 64.
    static func word(_ text: String?) -> String? { ServiceText.word(text, further: "-.") }

    /// Returns a reference: printable ASCII without spaces, at most 128.
    static func reference(_ text: String?) -> String? {
        guard let text, text.hasBytes(1...128, where: \.isVisible) else { return nil }
        return text
    }

    /// Returns true for the id of a message or an event: letters, digits, `_` and `-`, at most 128.
    static func isEventID(_ text: String) -> Bool { text.isWord(1...128, or: "-") }

    /// Returns true for a display name: 1–64 Unicode scalars without control characters.
    static func isName(_ text: String) -> Bool {
        text.hasScalars(1...64) && text.isPlain
    }
}
