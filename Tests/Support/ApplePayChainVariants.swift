extension ApplePayVariant {
    /// Changes the certificates, and the choice of the signer among them.
    func editChain(_ recipe: inout ApplePayRecipe) {
        let seconds = recipe.signer.signedAt
        let key = recipe.signer.named.key
        let leaf = { (edit: (inout ApplePayCertificate) -> Void) in
            ApplePayMint.leaf("Mint broker", key, edit).issued(by: ApplePayMint.intermediate)
        }
        switch self {
        case .certificatesReversed: recipe.signer.certificates.reverse()
        case .rootIncluded: recipe.signer.certificates.append(ApplePayMint.root.der)
        case .thirdCertificate: recipe.signer.certificates.append(ApplePayMint.processingEC.der)
        case .foreignRoot:
            let root = ApplePayMint.root("Mint Pay Root", key: ApplePayMint.fixed384(77))
            let intermediate = Self.intermediate(by: root)
            recipe.sign(
                by: ApplePayMint.leaf("Mint ecc broker", key).issued(by: intermediate), under: intermediate)
        case .leafExpired: recipe.sign(by: leaf { $0.last = seconds - 1 })
        case .leafNotYetValid: recipe.sign(by: leaf { $0.first = seconds + 1 })
        case .intermediateExpired:
            let intermediate = Self.intermediate(by: ApplePayMint.root) { $0.last = seconds - 1 }
            recipe.sign(by: ApplePayMint.leaf("Mint broker", key).issued(by: intermediate), under: intermediate)
        case .leafIsAuthority: recipe.sign(by: leaf { $0.isAuthority = true })
        case .intermediateIsNoAuthority:
            let intermediate = Self.intermediate(by: ApplePayMint.root) { $0.isAuthority = false }
            recipe.sign(by: ApplePayMint.leaf("Mint broker", key).issued(by: intermediate), under: intermediate)
        case .leafOnP384:
            recipe.sign(
                by: ApplePayMint.leaf("Mint broker", ApplePayMint.fixed384(15)).issued(by: ApplePayMint.intermediate))
        case .leafOfOtherVersion:
            recipe.sign(by: recipe.version == .ec ? ApplePayMint.leafRSA : ApplePayMint.leafEC)
        case .leafForged:
            recipe.sign(
                by: ApplePayMint.leaf("Mint broker", key).issued(by: ApplePayMint.intermediate, signer: .newP256()))
        case .intermediateForged:
            let intermediate = ApplePayCertificate("Mint Application Integration CA", ApplePayMint.fixed256(12)) {
                $0.isAuthority = true
                $0.extensions = [ApplePayMint.intermediateMarker]
            }.issued(by: ApplePayMint.root, signer: ApplePayMint.fixed384(78))
            recipe.signer.certificates[1] = intermediate.der
        case .oneCertificate: recipe.signer.certificates.removeLast()
        case .noCertificates: recipe.signer.certificates = []
        case .leafTwice: recipe.signer.certificates[1] = recipe.signer.certificates[0]
        case .signerIsIntermediate:
            recipe.signer.named = ApplePayMint.intermediate
            recipe.signer.key = recipe.version == .ec ? nil : ApplePayMint.leafRSA.key
        default: break
        }
    }

    func editMarkers(_ recipe: inout ApplePayRecipe) {
        let key = recipe.signer.named.key
        let (leafMarker, intermediateMarker) = (ApplePayMint.leafMarker, ApplePayMint.intermediateMarker)
        let markers: (leaf: [ApplePayCertificate.Extension], intermediate: [ApplePayCertificate.Extension])
        switch self {
        case .leafMarkerMissing: markers = ([], [intermediateMarker])
        case .intermediateMarkerMissing: markers = ([leafMarker], [])
        case .leafMarkerDoubled: markers = ([leafMarker], [intermediateMarker, leafMarker])
        case .intermediateMarkerDoubled: markers = ([leafMarker, intermediateMarker], [intermediateMarker])
        case .markersSwapped: markers = ([intermediateMarker], [leafMarker])
        default: return
        }
        let intermediate = Self.intermediate(by: ApplePayMint.root) { $0.extensions = markers.intermediate }
        let leaf = ApplePayMint.leaf("Mint broker", key) { $0.extensions = markers.leaf }.issued(by: intermediate)
        recipe.sign(by: leaf, under: intermediate)
    }

    private static func intermediate(
        by root: ApplePayIdentity, _ edit: (inout ApplePayCertificate) -> Void = { _ in }
    ) -> ApplePayIdentity {
        ApplePayCertificate("Mint Application Integration CA", ApplePayMint.fixed256(12)) {
            $0.isAuthority = true
            $0.extensions = [ApplePayMint.intermediateMarker]
            edit(&$0)
        }.issued(by: root)
    }
}

extension ApplePayRecipe {
    /// Signs with another leaf, under the usual intermediate or another one.
    package mutating func sign(
        by leaf: ApplePayIdentity, under intermediate: ApplePayIdentity = ApplePayMint.intermediate
    ) {
        signer.named = leaf
        signer.certificates = [leaf.der, intermediate.der]
    }
}
