import Crypto
import Encodings
import Testing

@testable import AppleTrust

@Suite("Which root a receipt's chain may end in")
struct ReceiptRootTests {
    private func reason(
        _ receipt: MintReceipt, roots: [MintIdentity] = [], pinned: MintIdentity? = nil
    ) -> AppleRefusal.Reason? {
        let authenticator = ReceiptAuthenticator(
            chains: ChainValidator(
                anchors: roots.compactMap { TrustAnchor(der: $0.der) }, cache: ChainCache(capacity: 8)),
            pinnedRoot: pinned.map { Array(SHA256.hash(data: $0.der)) } ?? AppleRoots.receiptRootSHA256)
        do throws(AppleRefusal) {
            // Twice: a remembered chain counts for the root only that it was found under.
            _ = try authenticator.authenticate(try UnverifiedReceipt(receipt.bytes))
            _ = try authenticator.authenticate(try UnverifiedReceipt(receipt.bytes))
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `an embedded root counts exactly when its hash is pinned`() {
        let root = MintReceiptChain.root
        #expect(reason(MintReceipt(), pinned: root) == nil)
        #expect(reason(MintReceipt()) == .untrustedChain)
        #expect(reason(MintReceipt(), pinned: MintReceiptChain.foreignRoot) == .untrustedChain)
        let foreign = MintReceipt(chain: MintReceiptChain.new(root: MintReceiptChain.foreignRoot))
        #expect(reason(foreign, pinned: root) == .untrustedChain)
        #expect(reason(foreign, pinned: MintReceiptChain.foreignRoot) == nil)
        #expect(
            reason(foreign.with { $0.message = { $0.certificates.append(root.der) } }, pinned: root) == .untrustedChain)
        let without = MintReceipt().with { $0.message = { $0.certificates.removeLast() } }
        #expect(reason(without, pinned: root) == .untrustedChain)
        #expect(reason(without, roots: [root]) == nil)
    }

    @Test func `a pinned root has to be an authority, and valid`() {
        // The leaf's hash pinned: it anchors nothing.
        #expect(reason(MintReceipt(), pinned: MintReceiptChain.sound.leaf) == .untrustedChain)
        #expect(reason(MintReceipt(), pinned: MintReceiptChain.sound.intermediate) == .untrustedChain)
        let ended = MintReceipt(chain: MintReceiptChain.new(root: MintReceiptChain.expiredRoot))
        #expect(reason(ended, pinned: MintReceiptChain.expiredRoot) == .certificateExpired)
    }

    @Test func `a configured root counts beside the pinned one`() {
        let other = MintReceipt(chain: MintReceiptChain.legacy)
        for receipt in [MintReceipt(), other] {
            #expect(reason(receipt, roots: [MintReceiptChain.legacy.root], pinned: MintReceiptChain.root) == nil)
        }
        #expect(reason(other, pinned: MintReceiptChain.root) == .untrustedChain)
    }

    @Test func `the root of JWS anchors no receipt, and that of receipts no JWS`() {
        let both = MintVerifier.new(roots: [MintChain.root] + MintReceiptChain.trusted)
        #expect(ReceiptCase.reason(MintReceipt().text, both) == nil && MintVerifier.reason(MintJWS().text, both) == nil)
        let jws = MintReceipt(chain: MintChain.sound)
        #expect(ReceiptCase.reason(jws.text, both) == .untrustedChain)
        let mixed = MintReceiptChain.new(root: MintChain.root)
        #expect(ReceiptCase.reason(MintReceipt(chain: mixed).text, both) == .untrustedChain)
        #expect(ReceiptCase.reason(MintReceipt().text, MintVerifier.new(roots: [MintChain.root])) == .untrustedChain)
        #expect(ReceiptCase.reason(MintReceipt().text, MintVerifier.new(roots: [])) == .untrustedChain)
    }

    @Test func `the pinned hash is that of Apple Inc. Root CA`() {
        let hex = Hex.encoded(AppleRoots.receiptRootSHA256)
        #expect(hex == "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024")
    }

    @Test func `a remembered chain is used inside its dates only`() throws {
        let verifier = MintVerifier.new(roots: [MintReceiptChain.root])
        let inside = MintTime.now - 2 * MintTime.day
        let outside = MintTime.now
        var receipt = MintReceipt(chain: ReceiptSoundCases.ended)
        for time in [inside, outside, inside, outside] {
            receipt.fields[12] = MintReceipt.date(time)
            #expect(
                ReceiptCase.reason(receipt.text, verifier) == (time == inside ? nil : .certificateExpired))
        }
        #expect(verifier.receipts.chains.cache.count == 1)
    }
}
