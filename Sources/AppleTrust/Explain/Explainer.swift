import Crypto
import RefusalReasons
import X509

/// Runs every check of a JWS that can be run, also after one has failed.
struct Explainer {
    private let verifier: AppleVerifier
    private var list = CheckList()
    private var header: JWSHeader?
    private var payload: JSONDocument?
    private var certificates: [AppleCertificateFacts] = []

    init(_ verifier: AppleVerifier) { self.verifier = verifier }

    mutating func explain(_ text: String) -> AppleExplanation {
        if let compact = list.run(.form, { () throws(AppleRefusal) in try CompactJWS(text) }) { explain(compact, text) }
        let kind = payload.map(PayloadFacts.kind) ?? .unknown
        let refusal = refusal(of: text, kind)
        list.note(refusal)
        return AppleExplanation(
            kind: kind, checks: list.checks(AppleCheck.Name.common),
            header: header.map { PayloadFacts.facts($0.json) } ?? [], certificates: certificates,
            payload: payload.map(PayloadFacts.facts) ?? [], refusal: refusal)
    }

    /// The verifier's answer to a text of this kind; an unknown kind is judged as a transaction, as an attach does.
    private func refusal(of text: String, _ kind: AppleExplanation.Kind) -> AppleRefusal? {
        do throws(AppleRefusal) {
            switch kind {
            case .transaction, .receipt, .unknown: _ = try verifier.transaction(text)
            case .renewalInfo: _ = try verifier.renewalInfo(text)
            case .notification: _ = try verifier.notification(text)
            case .appTransaction: try checkAppTransaction(text)
            }
            return nil
        } catch {
            return error
        }
    }

    /// Checks the app and environment of an app transaction, which the server otherwise reads inside notifications
    /// only.
    private func checkAppTransaction(_ text: String) throws(AppleRefusal) {
        let claimed = PayloadFacts.audience(try verifier.payload(text).text)
        if let bundleID = claimed.bundleID { try verifier.audience.checkApp(bundleID) }
        if let environment = claimed.environment { _ = try verifier.audience.environment(environment) }
    }

    private mutating func explain(_ compact: CompactJWS, _ text: String) {
        var texts: [ArraySlice<UInt8>]?
        header = list.run(.header) { () throws(AppleRefusal) in try JWSHeader(compact.header) }
        if let header {
            list.run(.algorithm) { () throws(AppleRefusal) in try header.checkAlgorithm() }
            list.run(.critical) { () throws(AppleRefusal) in try header.checkCritical() }
            texts = list.run(.certificateList) { () throws(AppleRefusal) in try header.certificateTexts() }
        }
        payload = list.run(.payload) { () throws(AppleRefusal) in try UnverifiedJWS.json(compact.payload) }
        var signedDate: Int64?
        if let payload {
            signedDate = list.run(.signedDate) { () throws(AppleRefusal) in try UnverifiedJWS.signedDate(payload) }
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
        let links = list.run(.certificates) { () throws(AppleRefusal) in
            try ChainLinks<StoreJWSProfile>(try JWSHeader.certificates(texts))
        }
        guard let links else { return }
        let anchors = verifier.authenticator.chains.anchors
        let trusted = list.run(.chain) { () throws(AppleRefusal) in try links.trustedAnchors(among: anchors) }
        list.run(.purpose) { () throws(AppleRefusal) in try links.checkPurpose() }
        if let signedDate {
            list.run(.validity) { () throws(AppleRefusal) in
                try links.checkValidity(under: trusted, at: signedDate)
            }
        }
        guard let key = P256.Signing.PublicKey(links.leaf.publicKey) else { return }
        list.run(.signature) { () throws(AppleRefusal) in
            try RawSignature.check(compact.signature, over: compact.signingInput, by: key)
        }
    }

    private mutating func explainXcode(_ compact: CompactJWS, _ text: ArraySlice<UInt8>) {
        certificates = [text].compactMap(AppleCertificateFacts.init)
        let authenticator = verifier.authenticator
        guard let payload else { return }
        let kind = PayloadFacts.kind(payload)
        let may: Void? = list.run(.certificates) { () throws(AppleRefusal) in
            try authenticator.checkXcode(payload, xcode: kind == .transaction || kind == .renewalInfo)
        }
        guard may != nil else { return }
        list.note(.purpose, .notReached("Xcode's certificates carry no marker"))
        list.note(.validity, .notReached("the dates of Xcode's certificates do not count"))
        guard !authenticator.xcodeCertificates.isEmpty else {
            list.note(.chain, .notReached("no Xcode certificates are configured"))
            list.note(.signature, .notReached("Xcode's signature is not checked without its certificate"))
            return
        }
        guard let key = list.run(.chain, { () throws(AppleRefusal) in try authenticator.xcodeKey(text) }) else {
            return
        }
        list.run(.signature) { () throws(AppleRefusal) in
            try RawSignature.check(compact.signature, over: compact.signingInput, by: key)
        }
    }

    private mutating func explainClaims(_ text: String) {
        guard let payload else { return }
        explainFields(text, PayloadFacts.kind(payload))
        let audience = verifier.audience
        let claimed = PayloadFacts.audience(payload)
        if let bundleID = claimed.bundleID {
            list.run(.app) { () throws(AppleRefusal) in try audience.checkApp(bundleID) }
        } else {
            list.note(.app, .notReached("the payload names no app"))
        }
        if let environment = claimed.environment {
            _ = list.run(.environment) { () throws(AppleRefusal) in try audience.environment(environment) }
        } else {
            list.note(.environment, .notReached("the payload names no environment"))
        }
    }

    /// Asks the verifier itself, because fields are read from verified payloads only.
    private mutating func explainFields(_ text: String, _ kind: AppleExplanation.Kind) {
        do throws(AppleRefusal) {
            let payload = try verifier.authenticator.authenticate(
                text, xcode: kind == .transaction || kind == .renewalInfo)
            switch kind {
            case .transaction: _ = try VerifiedTransaction(payload, for: verifier.audience)
            case .renewalInfo: _ = try VerifiedRenewalInfo(payload, for: verifier.audience)
            case .notification: _ = try VerifiedNotification(payload, verifier)
            case .appTransaction, .receipt, .unknown: break
            }
            list.note(.fields, .passed)
        } catch {
            guard !list.hasFailure else {
                list.note(.fields, .notReached("nothing vouches for the payload"))
                return
            }
            list.note(.fields, error.reason == .malformed && error.check == nil ? .failed(error) : .passed)
        }
    }
}
