import Crypto
import X509

/// Root, intermediate and leaf of receipts as Apple's are made, all with RSA; the keys are shared, names differ.
enum TestReceiptChain {
    static let rootKey = TestKey.rsa()
    static let intermediateKey = TestKey.rsa()
    static let leafKey = TestKey.rsa()
    static let strangeKey = TestKey.rsa()

    static let root = rootRecipe.issue(by: nil, key: rootKey)
    static let sound = new()
    /// All three signed over SHA-1, as Apple's were before 2023.
    static let legacy: TestChain = {
        var recipe = rootRecipe
        recipe.name = "Test Legacy Root CA"
        recipe.algorithm = .sha1WithRSAEncryption
        return new(
            root: recipe.issue(by: nil, key: rootKey), intermediate: { $0.algorithm = .sha1WithRSAEncryption },
            leaf: { $0.algorithm = .sha1WithRSAEncryption })
    }()
    /// Ended the day before the tests' present.
    static let expiredRoot: TestIdentity = {
        var recipe = rootRecipe
        recipe.name = "Test Expired Receipt Root"
        recipe.days = -3_650...(-1)
        return recipe.issue(by: nil, key: rootKey)
    }()
    /// Of the same name as the trusted root.
    static let foreignRoot = rootRecipe.issue(by: nil, key: strangeKey)

    static var rootRecipe: TestCertificate {
        var recipe = TestChain.rootRecipe
        recipe.name = "Test Receipt Root CA"
        return recipe
    }

    static func new(
        root: TestIdentity = root, intermediateSigner: TestKey? = nil, leafSigner: TestKey? = nil,
        intermediateKey: TestKey = intermediateKey, leafKey: TestKey = leafKey,
        intermediate editIntermediate: (inout TestCertificate) -> Void = { _ in },
        leaf editLeaf: (inout TestCertificate) -> Void = { _ in }
    ) -> TestChain {
        var intermediate = TestChain.intermediateRecipe
        intermediate.name = "Test Receipt WWDR"
        editIntermediate(&intermediate)
        let issuer = intermediate.issue(by: root, key: intermediateKey, signer: intermediateSigner)
        var leaf = TestChain.leafRecipe
        leaf.name = "Test Receipt Signing"
        editLeaf(&leaf)
        return TestChain(
            root: root, intermediate: issuer, leaf: leaf.issue(by: issuer, key: leafKey, signer: leafSigner))
    }

    /// What configuration trusts in most tests.
    static let trusted = [root, legacy.root, expiredRoot]
}
