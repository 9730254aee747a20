import RefusalReasons
import X509

/// Runs every check of a receipt that can be run, also after one has failed.
struct ReceiptExplainer {
    /// The verifier's order.
    static let names: [AppleCheck.Name] = [
        .form, .payload, .signedDate, .certificates, .algorithm, .chain, .purpose, .validity, .signature, .fields, .app,
        .environment,
    ]

    private let verifier: AppleVerifier
    private var list = CheckList()
    private var attributes: ReceiptAttributes?
    private var message: SignedData?
    private var certificates: [EmbeddedCertificate] = []

    init(_ verifier: AppleVerifier) { self.verifier = verifier }

    mutating func explain(_ text: String) -> AppleExplanation {
        message = list.run(.form) { () throws(AppleRefusal) in try SignedData(try ReceiptText.decode(text)[...]) }
        if let message { explain(message, text) }
        var refusal: AppleRefusal?
        do throws(AppleRefusal) { _ = try verifier.receipt(text) } catch { refusal = error }
        list.note(refusal)
        return AppleExplanation(
            kind: .receipt, checks: list.checks(Self.names), header: message.map(ReceiptFacts.signer) ?? [],
            certificates: certificates.map { AppleCertificateFacts($0.certificate, der: $0.der) },
            payload: attributes.map(ReceiptFacts.fields) ?? [], refusal: refusal)
    }

    private mutating func explain(_ message: SignedData, _ text: String) {
        let content = list.run(.payload) { () throws(AppleRefusal) in
            let content = try UnverifiedReceipt.content(of: message)
            attributes = try UnverifiedReceipt.attributes(in: content)
            return content
        }
        let creationDate = attributes.flatMap { attributes in
            list.run(.signedDate) { () throws(AppleRefusal) in try UnverifiedReceipt.creationDate(attributes) }
        }
        certificates = message.certificates.compactMap(EmbeddedCertificate.init)
        let leaf = list.run(.certificates) { () throws(AppleRefusal) in
            try message.signer.certificate(among: try UnverifiedReceipt.certificates(of: message))
        }
        let algorithm: Void? = list.run(.algorithm) { () throws(AppleRefusal) in
            try RSASignature.checkAlgorithms(message.signer)
        }
        if let leaf {
            explainChain(from: leaf, at: creationDate)
            if algorithm != nil, let content, let key = AppReceiptProfile.leafKey(of: leaf.certificate) {
                list.run(.signature) { () throws(AppleRefusal) in
                    try RSASignature.check(message.signer, over: content, by: key)
                }
            }
        }
        explainClaims(text)
    }

    /// Checks the chain of the issuer that the verifier's answer is about: the first one that leads to a root, else the
    /// last.
    private mutating func explainChain(from leaf: EmbeddedCertificate, at creationDate: Int64?) {
        let authenticator = verifier.receipts
        let anchors =
            authenticator.chains.anchors + [authenticator.pinnedAnchor(among: certificates)].compactMap(\.self)
        var shown = CheckList()
        shown.note(.chain, .failed(ReceiptAuthenticator.noIssuer))
        for issuer in ReceiptAuthenticator.issuers(of: leaf, in: certificates) {
            shown = Self.chain(PeerCertificates(leaf: leaf.der, intermediate: issuer.der), anchors, at: creationDate)
            if !shown.hasFailure { break }
        }
        for (name, outcome) in shown.outcomes { list.note(name, outcome) }
    }

    private static func chain(
        _ peer: PeerCertificates, _ anchors: [TrustAnchor], at creationDate: Int64?
    ) -> CheckList {
        var list = CheckList()
        guard let links = try? ChainLinks<AppReceiptProfile>(peer) else { return list }
        let trusted = list.run(.chain) { () throws(AppleRefusal) in try links.trustedAnchors(among: anchors) }
        list.run(.purpose) { () throws(AppleRefusal) in try links.checkPurpose() }
        guard let creationDate else { return list }
        list.run(.validity) { () throws(AppleRefusal) in try links.checkValidity(under: trusted, at: creationDate) }
        return list
    }

    private mutating func explainClaims(_ text: String) {
        guard let attributes else { return }
        explainFields(text)
        let audience = verifier.audience
        if let bundleID = try? attributes.name(2) {
            list.run(.app) { () throws(AppleRefusal) in try audience.checkApp(bundleID) }
        } else {
            list.note(.app, .notReached("the receipt names no app"))
        }
        do throws(AppleRefusal) {
            let type = try attributes.text(0)
            list.run(.environment) { () throws(AppleRefusal) in
                try VerifiedReceipt.environment(of: type, in: audience)
            }
        } catch {
            list.note(.environment, .notReached("the receipt's type cannot be read"))
        }
    }

    /// Asks the verifier itself, because fields are read from verified receipts only.
    private mutating func explainFields(_ text: String) {
        guard !list.hasFailure else {
            list.note(.fields, .notReached("nothing vouches for the receipt"))
            return
        }
        do throws(AppleRefusal) {
            _ = try verifier.receipt(text)
            list.note(.fields, .passed)
        } catch {
            list.note(.fields, error.reason == .malformed ? .failed(error) : .passed)
        }
    }
}
