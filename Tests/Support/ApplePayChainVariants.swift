extension ApplePayVariant {
    /// Changes the certificates, and the choice of the signer among them.
    func editChain(_ recipe: inout ApplePayRecipe) {
        let seconds = recipe.signer.signedAt
        let key = recipe.signer.named.key
        let leaf = { (edit: (inout ApplePayCertificate) -> Void) in
            ApplePayTestTokens.leaf("Mint broker", key, edit).issued(by: ApplePayTestTokens.intermediate)
        }
        switch self {
        case .certificatesReversed: recipe.signer.certificates.reverse()
        case .rootIncluded: recipe.signer.certificates.append(ApplePayTestTokens.root.der)
        case .thirdCertificate: recipe.signer.certificates.append(ApplePayTestTokens.processingEC.der)
        case .foreignRoot:
            let root = ApplePayTestTokens.root("Mint Pay Root", key: ApplePayTestTokens.fixed384(77))
            let intermediate = Self.intermediate(by: root)
            recipe.sign(
                by: ApplePayTestTokens.leaf("Mint ecc broker", key).issued(by: intermediate), under: intermediate)
        case .leafExpired: recipe.sign(by: leaf { $0.last = seconds - 1 })
        case .leafNotYetValid: recipe.sign(by: leaf { $0.first = seconds + 1 })
        case .intermediateExpired:
            let intermediate = Self.intermediate(by: ApplePayTestTokens.root) { $0.last = seconds - 1 }
            recipe.sign(by: ApplePayTestTokens.leaf("Mint broker", key).issued(by: intermediate), under: intermediate)
        case .leafIsAuthority: recipe.sign(by: leaf { $0.isAuthority = true })
        case .intermediateIsNoAuthority:
            let intermediate = Self.intermediate(by: ApplePayTestTokens.root) { $0.isAuthority = false }
            recipe.sign(by: ApplePayTestTokens.leaf("Mint broker", key).issued(by: intermediate), under: intermediate)
        case .leafOnP384:
            recipe.sign(
                by: ApplePayTestTokens.leaf("Mint broker", ApplePayTestTokens.fixed384(15)).issued(
                    by: ApplePayTestTokens.intermediate))
        case .leafOfOtherVersion:
            recipe.sign(by: recipe.version == .ec ? ApplePayTestTokens.leafRSA : ApplePayTestTokens.leafEC)
        case .leafForged:
            recipe.sign(
                by: ApplePayTestTokens.leaf("Mint broker", key).issued(
                    by: ApplePayTestTokens.intermediate, signer: .newP256()))
        case .intermediateForged:
            let intermediate = ApplePayCertificate("Mint Application Integration CA", ApplePayTestTokens.fixed256(12)) {
                $0.isAuthority = true
                $0.extensions = [ApplePayTestTokens.intermediateMarker]
            }.issued(by: ApplePayTestTokens.root, signer: ApplePayTestTokens.fixed384(78))
            recipe.signer.certificates[1] = intermediate.der
        case .oneCertificate: recipe.signer.certificates.removeLast()
        case .noCertificates: recipe.signer.certificates = []
        case .leafTwice: recipe.signer.certificates[1] = recipe.signer.certificates[0]
        case .signerIsIntermediate:
            recipe.signer.named = ApplePayTestTokens.intermediate
            recipe.signer.key = recipe.version == .ec ? nil : ApplePayTestTokens.leafRSA.key
        default: break
        }
    }

    func editMarkers(_ recipe: inout ApplePayRecipe) {
        let key = recipe.signer.named.key
        let (leafMarker, intermediateMarker) = (ApplePayTestTokens.leafMarker, ApplePayTestTokens.intermediateMarker)
        let markers: (leaf: [ApplePayCertificate.Extension], intermediate: [ApplePayCertificate.Extension])
        switch self {
        case .leafMarkerMissing: markers = ([], [intermediateMarker])
        case .intermediateMarkerMissing: markers = ([leafMarker], [])
        case .leafMarkerDoubled: markers = ([leafMarker], [intermediateMarker, leafMarker])
        case .intermediateMarkerDoubled: markers = ([leafMarker, intermediateMarker], [intermediateMarker])
        case .markersSwapped: markers = ([intermediateMarker], [leafMarker])
        default: return
        }
        let intermediate = Self.intermediate(by: ApplePayTestTokens.root) { $0.extensions = markers.intermediate }
        let leaf = ApplePayTestTokens.leaf("Mint broker", key) { $0.extensions = markers.leaf }.issued(by: intermediate)
        recipe.sign(by: leaf, under: intermediate)
    }

    private static func intermediate(
        by root: ApplePayIdentity, _ edit: (inout ApplePayCertificate) -> Void = { _ in }
    ) -> ApplePayIdentity {
        ApplePayCertificate("Mint Application Integration CA", ApplePayTestTokens.fixed256(12)) {
            $0.isAuthority = true
            $0.extensions = [ApplePayTestTokens.intermediateMarker]
            edit(&$0)
        }.issued(by: root)
    }
}

extension ApplePayRecipe {
    /// Signs with another leaf, under the usual intermediate or another one.
    package mutating func sign(
        by leaf: ApplePayIdentity, under intermediate: ApplePayIdentity = ApplePayTestTokens.intermediate
    ) {
        signer.named = leaf
        signer.certificates = [leaf.der, intermediate.der]
    }
}
