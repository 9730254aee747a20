import SwiftASN1
import X509

/// Root, intermediate and leaf as Apple's are made: P-384, P-384 with 6.2.1, P-256 with 6.11.1.
struct TestChain: Sendable {
    static let storeLeaf: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 11, 1]
    static let developerRelations: ASN1ObjectIdentifier = [1, 2, 840, 113_635, 100, 6, 2, 1]
    static let rootName = "Test Root CA - G3"
    static let leafName = "Test Store Signing"

    let root: TestIdentity
    let intermediate: TestIdentity
    let leaf: TestIdentity

    /// The root that most tests trust.
    static let root = rootRecipe.issue(by: nil)
    static let sound = TestChain()

    static var rootRecipe: TestCertificate {
        TestCertificate(
            name: rootName, days: -3_650...3_650, constraints: .isCertificateAuthority(maxPathLength: nil),
            usage: KeyUsage(keyCertSign: true, cRLSign: true))
    }
    static var intermediateRecipe: TestCertificate {
        TestCertificate(
            name: "Test WWDR CA - G6", days: -1_825...1_825, constraints: .isCertificateAuthority(maxPathLength: 0),
            usage: KeyUsage(keyCertSign: true, cRLSign: true), markers: [developerRelations])
    }
    static var leafRecipe: TestCertificate {
        TestCertificate(
            name: leafName, days: -700...700, curve: .p256, constraints: .notCertificateAuthority,
            usage: KeyUsage(digitalSignature: true), markers: [storeLeaf])
    }

    init(
        root: TestIdentity = TestChain.root, intermediateSigner: TestKey? = nil, leafSigner: TestKey? = nil,
        intermediate editIntermediate: (inout TestCertificate) -> Void = { _ in },
        leaf editLeaf: (inout TestCertificate) -> Void = { _ in }
    ) {
        var intermediate = Self.intermediateRecipe
        editIntermediate(&intermediate)
        var leaf = Self.leafRecipe
        editLeaf(&leaf)
        self.root = root
        self.intermediate = intermediate.issue(by: root, signer: intermediateSigner)
        self.leaf = leaf.issue(by: self.intermediate, signer: leafSigner)
    }

    init(root: TestIdentity, intermediate: TestIdentity, leaf: TestIdentity) {
        self.root = root
        self.intermediate = intermediate
        self.leaf = leaf
    }

    var x5c: [String] { [leaf.base64, intermediate.base64, root.base64] }
}
