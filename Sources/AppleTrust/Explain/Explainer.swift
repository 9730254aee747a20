import Crypto
import X509

/// Runs every check of the verifier that can be run, also after one has failed.
struct Explainer {
    private let verifier: AppleVerifier
    private var outcomes: [AppleCheck.Name: AppleCheck.Outcome] = [:]
    private var header: JWSHeader?
    private var payload: JSONText?
    private var certificates: [AppleCertificateFacts] = []

    init(_ verifier: AppleVerifier) { self.verifier = verifier }

    mutating func explain(_ text: String) -> AppleExplanation {
        if let compact = check(.form, { () throws(AppleRefusal) in try CompactJWS(text) }) { explain(compact, text) }
        let kind = payload.map(PayloadFacts.kind) ?? .unknown
        return AppleExplanation(
            kind: kind,
            checks: AppleCheck.Name.allCases.map { name in
                AppleCheck(name: name, outcome: outcomes[name] ?? .notReached("an earlier check failed"))
            },
            header: header.map { PayloadFacts.facts($0.json) } ?? [], certificates: certificates,
            payload: payload.map(PayloadFacts.facts) ?? [])
    }

    private mutating func explain(_ compact: CompactJWS, _ text: String) {
        var texts: [ArraySlice<UInt8>]?
        header = check(.header) { () throws(AppleRefusal) in try JWSHeader(compact.header) }
        if let header {
            check(.algorithm) { () throws(AppleRefusal) in try header.checkAlgorithm() }
            check(.critical) { () throws(AppleRefusal) in try header.checkCritical() }
            texts = check(.certificateList) { () throws(AppleRefusal) in try header.certificateTexts() }
        }
        payload = check(.payload) { () throws(AppleRefusal) in try UnverifiedJWS.json(compact.payload) }
        var signedDate: Int64?
        if let payload {
            signedDate = check(.signedDate) { () throws(AppleRefusal) in try UnverifiedJWS.signedDate(payload) }
        }
        if let texts, texts.count == 1 {
            explainXcode(compact, texts[0])
        } else if let texts {
            explainChain(compact, texts, signedDate)
        }
        explainClaims(text)
    }

    private mutating func explainChain(_ compact: CompactJWS, _ texts: [ArraySlice<UInt8>], _ signedDate: Int64?) {
        certificates = texts.prefix(2).compactMap(AppleCertificateFacts.init)
        let links = check(.certificates) { () throws(AppleRefusal) in
            try ChainLinks<StoreJWSProfile>(try JWSHeader.certificates(texts))
        }
        guard let links else { return }
        let anchors = verifier.authenticator.chains.anchors
        let trusted = check(.chain) { () throws(AppleRefusal) in try links.trustedAnchors(among: anchors) }
        check(.purpose) { () throws(AppleRefusal) in try links.checkPurpose() }
        if let signedDate {
            check(.validity) { () throws(AppleRefusal) in
                let intervals = trusted?.map { links.interval.intersection($0.validity) } ?? [links.interval]
                guard !intervals.contains(where: { $0.contains(signedDate) }) else { return }
                throw AppleRefusal.expired(intervals.last ?? links.interval, at: signedDate)
            }
        }
        guard let key = P256.Signing.PublicKey(links.leaf.publicKey) else { return }
        check(.signature) { () throws(AppleRefusal) in
            try RawSignature.check(compact.signature, over: compact.signingInput, by: key)
        }
    }

    private mutating func explainXcode(_ compact: CompactJWS, _ text: ArraySlice<UInt8>) {
        certificates = [text].compactMap(AppleCertificateFacts.init)
        let authenticator = verifier.authenticator
        guard let payload else { return }
        let kind = PayloadFacts.kind(payload)
        let may: Void? = check(.certificates) { () throws(AppleRefusal) in
            try authenticator.checkXcode(payload, xcode: kind == .transaction || kind == .renewalInfo)
        }
        guard may != nil else { return }
        outcomes[.purpose] = .notReached("Xcode's certificates carry no marker")
        outcomes[.validity] = .notReached("the dates of Xcode's certificates do not count")
        guard !authenticator.xcodeCertificates.isEmpty else {
            outcomes[.chain] = .notReached("no Xcode certificates are configured")
            outcomes[.signature] = .notReached("Xcode's signature is not checked without its certificate")
            return
        }
        guard let key = check(.chain, { () throws(AppleRefusal) in try authenticator.xcodeKey(text) }) else { return }
        check(.signature) { () throws(AppleRefusal) in
            try RawSignature.check(compact.signature, over: compact.signingInput, by: key)
        }
    }

    private mutating func explainClaims(_ text: String) {
        guard let payload else { return }
        explainFields(text, PayloadFacts.kind(payload))
        let audience = verifier.audience
        let claimed = PayloadFacts.audience(payload)
        if let bundleID = claimed.bundleID {
            check(.app) { () throws(AppleRefusal) in try audience.checkApp(bundleID) }
        } else {
            outcomes[.app] = .notReached("the payload names no app")
        }
        if let environment = claimed.environment {
            _ = check(.environment) { () throws(AppleRefusal) in try audience.environment(environment) }
        } else {
            outcomes[.environment] = .notReached("the payload names no environment")
        }
    }

    /// Fields are read from verified payloads only, so this check asks the verifier itself.
    private mutating func explainFields(_ text: String, _ kind: AppleExplanation.Kind) {
        do throws(AppleRefusal) {
            let payload = try verifier.authenticator.authenticate(
                text, xcode: kind == .transaction || kind == .renewalInfo)
            switch kind {
            case .transaction: _ = try VerifiedTransaction(payload, for: verifier.audience)
            case .renewalInfo: _ = try VerifiedRenewalInfo(payload, for: verifier.audience)
            case .notification: _ = try VerifiedNotification(payload, verifier)
            case .appTransaction, .unknown: break
            }
            outcomes[.fields] = .passed
        } catch {
            let isRead = outcomes.values.allSatisfy { if case .failed = $0 { false } else { true } }
            guard isRead else {
                outcomes[.fields] = .notReached("nothing vouches for the payload")
                return
            }
            outcomes[.fields] = error.reason == .malformed ? .failed(error) : .passed
        }
    }

    @discardableResult
    private mutating func check<Value>(
        _ name: AppleCheck.Name, _ body: () throws(AppleRefusal) -> Value
    ) -> Value? {
        do throws(AppleRefusal) {
            let value = try body()
            outcomes[name] = .passed
            return value
        } catch {
            outcomes[name] = .failed(error)
            return nil
        }
    }
}
