import Crypto
import Encodings
import Testing

@testable import AppleTrust

@Suite("Which root a receipt's chain may end in")
struct ReceiptRootTests {
    private func reason(
        _ receipt: TestReceipt, roots: [TestIdentity] = [], pinned: TestIdentity? = nil
    ) -> AppleRefusal.Reason? {
        let authenticator = ReceiptAuthenticator(
            chains: ChainValidator(
                anchors: roots.compactMap { TrustAnchor(der: $0.der) }, cache: ChainCache(capacity: 8)), box: [],
            pinnedRoot: pinned.map { Array(SHA256.hash(data: $0.der)) } ?? AppleRoots.receiptRootSHA256)
        do throws(AppleRefusal) {
            // Twice, because a cached chain is valid only for the root under which it was found.
            _ = try authenticator.authenticate(try UnverifiedReceipt(receipt.bytes))
            _ = try authenticator.authenticate(try UnverifiedReceipt(receipt.bytes))
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `an embedded root counts exactly when its hash is pinned`() {
        let root = TestReceiptChain.root
        #expect(reason(TestReceipt(), pinned: root) == nil)
        #expect(reason(TestReceipt()) == .untrustedChain)
        #expect(reason(TestReceipt(), pinned: TestReceiptChain.foreignRoot) == .untrustedChain)
        let foreign = TestReceipt(chain: TestReceiptChain.new(root: TestReceiptChain.foreignRoot))
        #expect(reason(foreign, pinned: root) == .untrustedChain)
        #expect(reason(foreign, pinned: TestReceiptChain.foreignRoot) == nil)
        #expect(
            reason(foreign.with { $0.message = { $0.certificates.append(root.der) } }, pinned: root) == .untrustedChain)
        let without = TestReceipt().with { $0.message = { $0.certificates.removeLast() } }
        #expect(reason(without, pinned: root) == .untrustedChain)
        #expect(reason(without, roots: [root]) == nil)
    }

    @Test func `a pinned root has to be an authority, and valid`() {
        // A pinned leaf or intermediate is no trust anchor.
        #expect(reason(TestReceipt(), pinned: TestReceiptChain.sound.leaf) == .untrustedChain)
        #expect(reason(TestReceipt(), pinned: TestReceiptChain.sound.intermediate) == .untrustedChain)
        let ended = TestReceipt(chain: TestReceiptChain.new(root: TestReceiptChain.expiredRoot))
        #expect(reason(ended, pinned: TestReceiptChain.expiredRoot) == .certificateExpired)
    }

    @Test func `a configured root counts beside the pinned one`() {
        let other = TestReceipt(chain: TestReceiptChain.legacy)
        for receipt in [TestReceipt(), other] {
            #expect(reason(receipt, roots: [TestReceiptChain.legacy.root], pinned: TestReceiptChain.root) == nil)
        }
        #expect(reason(other, pinned: TestReceiptChain.root) == .untrustedChain)
    }

    @Test func `the root of JWS anchors no receipt, and that of receipts no JWS`() {
        let both = TestVerifier.new(roots: [TestChain.root] + TestReceiptChain.trusted)
        #expect(ReceiptCase.reason(TestReceipt().text, both) == nil && TestVerifier.reason(TestJWS().text, both) == nil)
        let jws = TestReceipt(chain: TestChain.sound)
        #expect(ReceiptCase.reason(jws.text, both) == .untrustedChain)
        let mixed = TestReceiptChain.new(root: TestChain.root)
        #expect(ReceiptCase.reason(TestReceipt(chain: mixed).text, both) == .untrustedChain)
        #expect(ReceiptCase.reason(TestReceipt().text, TestVerifier.new(roots: [TestChain.root])) == .untrustedChain)
        #expect(ReceiptCase.reason(TestReceipt().text, TestVerifier.new(roots: [])) == .untrustedChain)
    }

    @Test func `the pinned hash is that of Apple Inc. Root CA`() {
        let hex = Hex.encoded(AppleRoots.receiptRootSHA256)
        #expect(hex == "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024")
    }

    @Test func `a remembered chain is used inside its dates only`() throws {
        let verifier = TestVerifier.new(roots: [TestReceiptChain.root])
        let inside = TestTime.now - 2 * TestTime.day
        let outside = TestTime.now
        var receipt = TestReceipt(chain: ReceiptSoundCases.ended)
        for time in [inside, outside, inside, outside] {
            receipt.fields[12] = TestReceipt.date(time)
            #expect(
                ReceiptCase.reason(receipt.text, verifier) == (time == inside ? nil : .certificateExpired))
        }
        #expect(verifier.receipts.chains.cache.count == 1)
    }
}
