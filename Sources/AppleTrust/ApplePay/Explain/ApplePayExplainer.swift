import Crypto
import Encodings
import X509

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Runs every check of a token that can be run, also after one has failed.
struct ApplePayExplainer {
    private let verifier: ApplePayVerifier
    private let now: Int64
    private var outcomes: [ApplePayCheck.Name: ApplePayCheck.Outcome] = [:]
    private var facts: [AppleFact] = []
    private var certificates: [AppleCertificateFacts] = []

    init(_ verifier: ApplePayVerifier, now: Int64) {
        self.verifier = verifier
        self.now = now
    }

    mutating func explain(_ bytes: [UInt8]) -> ApplePayExplanation {
        if let token = run(.form, { () throws(ApplePayRefusal) in try ApplePayToken(bytes) }) { explain(token) }
        let checks = ApplePayCheck.Name.allCases.map { name in
            ApplePayCheck(name: name, outcome: outcomes[name] ?? .notReached("an earlier check failed"))
        }
        return ApplePayExplanation(checks: checks, token: facts, certificates: certificates)
    }

    private mutating func explain(_ token: ApplePayToken) {
        let fields = token.fields
        add("version", token.version.rawValue)
        add("transaction id", Hex.encoded(fields.transactionID))
        add("public key hash", Base64.encode(fields.publicKeyHash))
        add("application data", fields.applicationData.map { "bound to SHA-256 \(Hex.encoded($0))" } ?? "none")
        add("encrypted", "\(fields.data.count) bytes")
        for (name, text) in [
            ("display name, unsigned", token.method.displayName), ("network, unsigned", token.method.network),
            ("type, unsigned", token.method.type),
        ] { text.map { add(name, $0) } }
        let signature = run(.message) { () throws(ApplePayRefusal) in
            try ApplePayRefusal.translating { () throws(AppleRefusal) in try TokenSignature(fields.signature) }
        }
        if let signature { explain(signature, of: token) }
        outcomes[.applicationData] = .notReached("only the order knows what the token has to be bound to")
        run(.transactionIdentifier) { () throws(ApplePayRefusal) in
            try ApplePayVerifier.checkTransactionIdentifier(token)
        }
    }

    private mutating func explain(_ signature: TokenSignature, of token: ApplePayToken) {
        add("signed at", Self.time(signature.signingTime))
        certificates = ([signature.leaf] + signature.others).compactMap { der in
            CertificateDER.parse(Array(der)).map { AppleCertificateFacts($0, der: Array(der)) }
        }
        switch token.version {
        case .ec: explain(signature, of: token, by: verifier.ec)
        case .rsa: explain(signature, of: token, by: verifier.rsa)
        }
        let window = verifier.window
        let (signedAt, now) = (signature.signingTime, now)
        run(.signingTime) { () throws(ApplePayRefusal) in
            if let late = window.refusal(signedAt, at: now) { throw late }
        }
        add("judged at", Self.time(now))
    }

    private mutating func explain<Profile: ApplePayProfile>(
        _ signature: TokenSignature, of token: ApplePayToken, by authenticator: TokenAuthenticator<Profile>
    ) {
        let peer = translated(.chain) { () throws(AppleRefusal) in try authenticator.peer(of: signature) }
        guard let peer else { return }
        let links = translated(.chain) { () throws(AppleRefusal) in try ChainLinks<Profile>(peer.certificates) }
        guard let links else { return }
        let trusted = translated(.chain) { () throws(AppleRefusal) in
            try links.trustedAnchors(among: peer.anchors)
        }
        translated(.purpose) { () throws(AppleRefusal) in try links.checkPurpose() }
        translated(.validity) { () throws(AppleRefusal) in
            try links.checkValidity(under: trusted, at: signature.signingTime)
        }
        guard let key = Profile.leafKey(of: links.leaf) else { return }
        translated(.signature) { () throws(AppleRefusal) in
            try TokenAuthenticator<Profile>.check(signature, over: token.fields.signedDigest, by: key)
        }
    }

    @discardableResult
    private mutating func translated<Value>(
        _ name: ApplePayCheck.Name, _ body: () throws(AppleRefusal) -> Value
    ) -> Value? {
        run(name) { () throws(ApplePayRefusal) in try ApplePayRefusal.translating(body) }
    }

    @discardableResult
    private mutating func run<Value>(
        _ name: ApplePayCheck.Name, _ body: () throws(ApplePayRefusal) -> Value
    ) -> Value? {
        do throws(ApplePayRefusal) {
            let value = try body()
            outcomes[name] = .passed
            return value
        } catch {
            outcomes[name] = .failed(error)
            return nil
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        facts.append(AppleFact(name: name, value: SafeText.line(value)))
    }

    private static func time(_ milliseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(milliseconds / 1_000)).formatted(.iso8601)
    }
}
