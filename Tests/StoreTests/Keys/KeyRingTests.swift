import Foundation
import Testing

@testable import Store

/// Tests of secrets at rest.
@Suite struct KeyRingTests {
    private static let old = Data(repeating: 1, count: 32)
    private static let new = Data(repeating: 2, count: 32)
    private let secret = Data("a secret".utf8)
    private let place = "payments.contract/pay_1"

    @Test func `a secret comes back from the place where it was sealed`() throws {
        let ring = try KeyRing(keys: [Self.new])
        let sealed = try ring.seal(secret, context: place)
        #expect(sealed.count == 1 + 4 + 12 + secret.count + 16)
        #expect(sealed.first == 1)
        #expect(sealed.range(of: secret) == nil)
        #expect(try ring.open(sealed, context: place) == secret)
        #expect(try ring.seal(secret, context: place) != sealed)
        #expect(try ring.open(ring.seal(Data(), context: place), context: place) == Data())
    }

    @Test func `a secret does not open at another place`() throws {
        let ring = try KeyRing(keys: [Self.new])
        let sealed = try ring.seal(secret, context: place)
        #expect(throws: KeyRingError.damaged) { try ring.open(sealed, context: "payments.contract/pay_2") }
    }

    @Test func `the first key seals and the old one still opens`() throws {
        let sealedBefore = try KeyRing(keys: [Self.old]).seal(secret, context: place)
        let ring = try KeyRing(keys: [Self.new, Self.old])
        #expect(try ring.open(sealedBefore, context: place) == secret)
        let sealed = try ring.seal(secret, context: place)
        #expect(try KeyRing(keys: [Self.new]).open(sealed, context: place) == secret)
        #expect(throws: KeyRingError.unknownKey) { try KeyRing(keys: [Self.old]).open(sealed, context: place) }
    }

    @Test func `no changed byte goes unnoticed`() throws {
        let ring = try KeyRing(keys: [Self.new, Self.old])
        let sealed = try ring.seal(secret, context: place)
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: KeyRingError.self, "byte \(index)") { try ring.open(changed, context: place) }
        }
        for length in 0..<sealed.count {
            #expect(throws: KeyRingError.self, "length \(length)") {
                try ring.open(sealed.prefix(length), context: place)
            }
        }
    }

    @Test func `a slice of a larger value opens`() throws {
        let ring = try KeyRing(keys: [Self.new])
        let larger = Data([9, 9, 9]) + (try ring.seal(secret, context: place))
        #expect(try ring.open(larger.dropFirst(3), context: place) == secret)
    }

    @Test func `a ring needs keys of 32 bytes`() {
        #expect(throws: KeyRingError.noKeys) { try KeyRing(keys: []) }
        #expect(throws: KeyRingError.keyLength(31)) { try KeyRing(keys: [Self.new, Data(repeating: 1, count: 31)]) }
    }

    @Test func `no text form shows a key`() throws {
        let ring = try KeyRing(keys: [Data("0123456789abcdef0123456789abcdef".utf8)])
        var dumped = ""
        dump(ring, to: &dumped)
        for shown in ["\(ring)", String(reflecting: ring), dumped] {
            #expect(!shown.contains("0123"))
            #expect(!shown.contains("48, 49"))
        }
        #expect(ring.description == "KeyRing(1 keys)")
    }
}
