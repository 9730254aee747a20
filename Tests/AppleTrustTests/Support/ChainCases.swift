import AppleTrust
import SwiftASN1
import X509

/// The faults of the certificates.
enum ChainCases {
    static let all: [SignedTextCase] = purposes + times + constraints + signatures

    static let purposes: [SignedTextCase] = [
        leaf("the leaf lacks its marker", .wrongPurpose) { $0.markers = [] },
        leaf("the leaf has the intermediate's marker", .wrongPurpose) { $0.markers = [TestChain.developerRelations] },
        leaf("the leaf has a marker that starts the same", .wrongPurpose) {
            $0.markers = [[1, 2, 840, 113_635, 100, 6, 11, 1, 1]]
        },
        intermediate("the intermediate lacks its marker", .wrongPurpose) { $0.markers = [] },
        intermediate("the intermediate has the leaf's marker", .wrongPurpose) { $0.markers = [TestChain.storeLeaf] },
        intermediate("the intermediate has Apple Pay's marker", .wrongPurpose) {
            $0.markers = [[1, 2, 840, 113_635, 100, 6, 2, 14]]
        },
        SignedTextCase(
            "markers missing under a foreign root",
            TestJWS(chain: TestChain(root: TestChain.rootRecipe.issue(by: nil), leaf: { $0.markers = [] })),
            .untrustedChain),
        leaf("markers missing and expired", .wrongPurpose) {
            $0.markers = []
            $0.days = -700...(-1)
        },
    ]

    static let times: [SignedTextCase] = [
        leaf("the leaf expired yesterday", .certificateExpired) { $0.days = -700...(-1) },
        leaf("the leaf is valid from tomorrow", .certificateExpired) { $0.days = 1...700 },
        intermediate("the intermediate expired yesterday", .certificateExpired) { $0.days = -700...(-1) },
        intermediate("the intermediate is valid from tomorrow", .certificateExpired) { $0.days = 1...700 },
        SignedTextCase(
            "the root expired yesterday", TestJWS(chain: TestChain(root: expiredRoot)), .certificateExpired),
        SignedTextCase("signed inside an expired leaf's dates", signed(expired, TestTime.now - 2 * TestTime.day), nil),
        SignedTextCase("signed in the leaf's last second", signed(expired, TestTime.now - TestTime.day + 999), nil),
        SignedTextCase(
            "signed a second after it", signed(expired, TestTime.now - TestTime.day + 1_000), .certificateExpired),
        SignedTextCase("signed in the leaf's first second", signed(early, TestTime.now + TestTime.day), nil),
        SignedTextCase("signed just before it", signed(early, TestTime.now + TestTime.day - 1), .certificateExpired),
        SignedTextCase("signed in 1970", signed(.sound, 1), .certificateExpired),
    ]

    static let constraints: [SignedTextCase] = [
        leaf("the leaf is a CA", .untrustedChain, difference: .itIsLaxer) {
            $0.constraints = .isCertificateAuthority(maxPathLength: nil)
            $0.usage = KeyUsage(digitalSignature: true, keyCertSign: true)
        },
        leaf("the leaf has no basicConstraints", nil) { $0.constraints = nil },
        leaf("the leaf has no keyUsage", nil) { $0.usage = nil },
        leaf("the leaf may not sign data", .untrustedChain, difference: .itIsLaxer) {
            $0.usage = KeyUsage(keyEncipherment: true)
        },
        leaf("the leaf's key is P-384", .untrustedChain) { $0.curve = .p384 },
        leaf("the leaf has an unknown critical extension", .untrustedChain) { $0.critical = [[1, 2, 3, 4]] },
        intermediate("the intermediate is no CA", .untrustedChain) {
            $0.constraints = .notCertificateAuthority
            $0.usage = KeyUsage(digitalSignature: true)
        },
        intermediate("the intermediate has no basicConstraints", .untrustedChain) { $0.constraints = nil },
        intermediate("the intermediate's basicConstraints are not critical", nil) {
            $0.constraintsCritical = false
        },
        intermediate("the intermediate has no keyUsage", nil, difference: .itIsStricter) { $0.usage = nil },
        intermediate("the intermediate may not sign certificates", .untrustedChain) {
            $0.usage = KeyUsage(digitalSignature: true)
        },
        intermediate("the intermediate has no path length", nil) {
            $0.constraints = .isCertificateAuthority(maxPathLength: nil)
        },
        intermediate("the intermediate has a long path length", nil) {
            $0.constraints = .isCertificateAuthority(maxPathLength: 3)
        },
        intermediate("the intermediate's key is P-256", nil) { $0.curve = .p256 },
        intermediate("the intermediate has an unknown critical extension", .untrustedChain) {
            $0.critical = [[1, 2, 3, 4]]
        },
    ]

    static let signatures: [SignedTextCase] = [
        SignedTextCase(
            "the leaf is signed by a stranger", TestJWS(chain: TestChain(leafSigner: .new(.p384))), .untrustedChain),
        SignedTextCase(
            "the intermediate is signed by a stranger", TestJWS(chain: TestChain(intermediateSigner: .new(.p384))),
            .untrustedChain),
        leaf("the leaf names another issuer", .untrustedChain) { $0.issuerName = "Somebody Else" },
        intermediate("the intermediate names another issuer", .untrustedChain) { $0.issuerName = "Somebody Else" },
        leaf("the leaf is signed with SHA-256 by a P-384 key", nil) { $0.algorithm = .ecdsaWithSHA256 },
        leaf("the leaf is signed with SHA-512 by a P-384 key", nil) { $0.algorithm = .ecdsaWithSHA512 },
        SignedTextCase("a leaf that signed itself", TestJWS(chain: selfSigned), .untrustedChain),
        SignedTextCase("a chain one longer than it says", TestJWS(chain: longer), .untrustedChain),
    ]

    private static let expired = TestChain(leaf: { $0.days = -700...(-1) })
    private static let early = TestChain(leaf: { $0.days = 1...700 })
    static let expiredRoot: TestIdentity = {
        var recipe = TestChain.rootRecipe
        recipe.name = "Test Expired Root"
        recipe.days = -3_650...(-1)
        return recipe.issue(by: nil)
    }()
    private static let selfSigned = TestChain(
        root: TestChain.root, intermediate: TestChain.sound.intermediate, leaf: TestChain.leafRecipe.issue(by: nil))
    /// A further CA stands between the intermediate in the header and the root.
    private static let longer: TestChain = {
        var recipe = TestChain.intermediateRecipe
        recipe.name = "Test Hidden CA"
        recipe.constraints = .isCertificateAuthority(maxPathLength: nil)
        return TestChain(root: recipe.issue(by: TestChain.root))
    }()

    private static func signed(_ chain: TestChain, _ time: Int64) -> TestJWS {
        TestJWS(chain: chain, payload: TestJWS.transaction.with(["signedDate": "\(time)"]))
    }

    private static func leaf(
        _ name: String, _ reason: AppleRefusal.Reason?, difference: SignedTextCase.Difference? = nil,
        _ edit: (inout TestCertificate) -> Void
    ) -> SignedTextCase {
        SignedTextCase(name, TestJWS(chain: TestChain(leaf: edit)), reason, difference: difference)
    }

    private static func intermediate(
        _ name: String, _ reason: AppleRefusal.Reason?, difference: SignedTextCase.Difference? = nil,
        _ edit: (inout TestCertificate) -> Void
    ) -> SignedTextCase {
        SignedTextCase(name, TestJWS(chain: TestChain(intermediate: edit)), reason, difference: difference)
    }
}
