import Crypto
import Domain
import FoundationEssentials
import ProviderKit

/// A secret that no description, reflection or dump shows.
struct RemoteSecret: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    static let prefix = "whsec_"

    private let bytes: Data

    /// - Returns: nil for anything but `whsec_` and the base64 of 24 to 64 bytes (Standard Webhooks, "Secret keys").
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

/// The headers that Standard Webhooks adds to a message: who made it, when, and for which id.
struct RemoteSeal: Sendable {
    static let id = "webhook-id"
    static let time = "webhook-timestamp"
    static let signature = "webhook-signature"

    let id: String
    let timestamp: Int64
    /// As the header has them: `v1,…` with spaces between.
    let signatures: String

    /// - Returns: nil where a header is missing or of another form.
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

    /// Seals a message of ours.
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

    /// Returns whether one of the signatures is one of the secrets', over this body.
    func isGenuine(_ body: Data, _ secrets: [RemoteSecret]) -> Bool {
        let signed = signed(body)
        let codes = signatures.split(separator: " ").prefix(16).compactMap { word -> Data? in
            guard word.hasPrefix("v1,") else { return nil }
            return Data(base64Encoded: String(word.dropFirst(3)))
        }
        // One code a secret, however many signatures there are; its comparison takes the same time wherever they differ.
        return secrets.contains { secret in
            let code = HMAC<SHA256>.authenticationCode(for: signed, using: secret.key)
            return codes.contains { code == $0 }
        }
    }

    /// Returns whether it was made within five minutes of this time, before or after.
    func isTimely(at now: Int64) -> Bool { (now - RemoteLimits.window...now + RemoteLimits.window).contains(timestamp) }

    /// The id has no dot, so that this can be read in one way only.
    private func signed(_ body: Data) -> Data { Data("\(id).\(timestamp).".utf8) + body }
}

/// The protocol's limits, as `openapi.yaml` has them.
enum RemoteLimits {
    /// Seconds between a signature's time and now.
    static let window: Int64 = 300
    static let callMilliseconds: Int64 = 10_000
    /// Of each body, in either direction.
    static let body = 64 << 10
}

/// Texts that come from a plugin; what is out of bounds is not taken over.
enum RemoteText {
    /// A status, a reason or a type: letters, digits, `_`, `-` and `.`, at most 64.
    static func word(_ text: String?) -> String? { ServiceText.word(text, further: "-.") }

    /// A reference: printable ASCII without spaces, at most 128.
    static func reference(_ text: String?) -> String? {
        guard let text, text.hasBytes(1...128, where: \.isVisible) else { return nil }
        return text
    }

    /// The id of a message or an event: letters, digits, `_` and `-`, at most 128.
    static func isEventID(_ text: String) -> Bool { text.isWord(1...128, or: "-") }

    /// A name for people: 1–64 Unicode scalars, no control characters.
    static func isName(_ text: String) -> Bool {
        text.hasScalars(1...64) && text.isPlain
    }
}
