import SwiftASN1
import X509

/// Root, intermediate and leaf as Apple's are made: P-384, P-384 with 6.2.1, P-256 with 6.11.1.
struct MintChain: Sendable {
    static let storeLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
    static let rootName = "Test Root CA - G3"
    static let leafName = "Test Store Signing"

    let root: MintIdentity
    let intermediate: MintIdentity
    let leaf: MintIdentity

    /// The root that most tests trust.
    static let root = rootRecipe.issue(by: nil)
    static let sound = MintChain()

    static var rootRecipe: MintCertificate {
        MintCertificate(
            name: rootName, days: -3_650...3_650, constraints: .isCertificateAuthority(maxPathLength: nil),
            usage: KeyUsage(keyCertSign: true, cRLSign: true))
    }
    static var intermediateRecipe: MintCertificate {
        MintCertificate(
            name: "Test WWDR CA - G6", days: -1_825...1_825, constraints: .isCertificateAuthority(maxPathLength: 0),
            usage: KeyUsage(keyCertSign: true, cRLSign: true), markers: [developerRelations])
    }
    static var leafRecipe: MintCertificate {
        MintCertificate(
            name: leafName, days: -700...700, curve: .p256, constraints: .notCertificateAuthority,
            usage: KeyUsage(digitalSignature: true), markers: [storeLeaf])
    }

    init(
        root: MintIdentity = MintChain.root, intermediateSigner: MintKey? = nil, leafSigner: MintKey? = nil,
        intermediate editIntermediate: (inout MintCertificate) -> Void = { _ in },
        leaf editLeaf: (inout MintCertificate) -> Void = { _ in }
    ) {
        var intermediate = Self.intermediateRecipe
        editIntermediate(&intermediate)
        var leaf = Self.leafRecipe
        editLeaf(&leaf)
        self.root = root
        self.intermediate = intermediate.issue(by: root, signer: intermediateSigner)
        self.leaf = leaf.issue(by: self.intermediate, signer: leafSigner)
    }

    init(root: MintIdentity, intermediate: MintIdentity, leaf: MintIdentity) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
    }

    var x5c: [String] { [leaf.base64, intermediate.base64, root.base64] }
}
