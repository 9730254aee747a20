import AppleTrust
import Encodings

/// Reads the receipts of the box, as verifyReceipt does: only what this box signed for its app is accepted.
struct ReceiptCheck: Sendable {
    private let verifier: AppleVerifier
    let signer: ReceiptSigner

    init(_ authority: BoxAuthority, app: BoxApp) throws(BoxAuthorityError) {
        signer = try ReceiptSigner(authority, app: app)
        do {
            verifier = try AppleVerifier(
                AppleVerifierConfiguration(
                    apps: [AppleApp(bundleID: app.bundleID, appAppleID: app.appAppleID)], environments: [.sandbox],
                    extraRoots: authority.roots, cachedChains: 4))
        } catch {
            throw .damaged
        }
    }

    /// A receipt's facts, or verifyReceipt's status for another text.
    func receipt(_ text: String) throws(VerifyReceiptStatus) -> VerifiedReceipt {
        do throws(AppleRefusal) {
            return try verifier.receipt(text)
        } catch {
            switch error.reason {
            case .malformed: throw .malformed
            case .wrongEnvironment: throw .production
            default: throw .unauthentic
            }
        }
    }
}

/// The statuses of verifyReceipt besides 0.
///
/// Source: Apple, App Store Receipts, "status".
enum VerifyReceiptStatus: Int, Error {
    case notPOST = 21_000
    case malformed = 21_002
    case unauthentic = 21_003
    case production = 21_008
    case noAccount = 21_010
}
