import AppleTrust

/// A token's signature is hostile: the message, or the attributes in it, soundly signed.
///
/// The first byte chooses: even, the whole message follows; odd, the contents of the signed attributes, which the true
/// key signs.
struct PaymentMessageTarget: FuzzTarget {
    let name = "apple-pay-cms"

    var seeds: [[UInt8]] {
        let parts = PaymentMint.parts[0]
        let attributes = PaymentMint.attributes(over: parts.signed)
        let signer = PaymentMint.signer(parts, attributes, PaymentMint.sign(attributes, parts))
        let leaf = PaymentMint.leaf(parts)
        let messages = [
            PaymentMint.message(leaf, [signer]), PaymentMint.message(leaf, [signer], isDER: true),
            PaymentMint.message(leaf + [PaymentCertificates.root], [signer]),
            PaymentMint.message(leaf.reversed(), [signer]), PaymentMint.message(leaf, [signer, signer]),
            PaymentMint.message(leaf, []), PaymentMint.message([leaf[0]], [signer]),
            PaymentMint.message([PaymentCertificates.unmarked, leaf[1]], [signer]),
            PaymentMint.signature(PaymentMint.parts[2]), [0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0], [],
        ]
        return messages.map { [0] + $0 } + [[1] + attributes, [1]]
    }

    var words: [String] { ["260921141320Z", "20260921141320Z", "991231235960Z"] }

    func run(_ input: [UInt8]) -> Bool {
        let parts = PaymentMint.parts[0]
        let rest = Array(input.dropFirst())
        let isSigned = (input.first ?? 0) & 1 == 1
        let message =
            isSigned
            ? PaymentMint.message(
                PaymentMint.leaf(parts), [PaymentMint.signer(parts, rest, PaymentMint.sign(rest, parts))]) : rest
        let verdict = PaymentVerdict(
            Array(PaymentMint.token(parts, signature: message).utf8),
            isExplained: input.reduce(0, &+).isMultiple(of: 16))
        guard let token = verdict.token else { return false }
        if isSigned {
            let sound = PaymentMint.attributes(over: parts.signed)
            // The attribute of the digest, whose last 34 bytes it is.
            Harness.expect(rest.contains(sound.suffix(34)), "accepted without the digest of the content")
        } else {
            Harness.expect(token.signedAt == PaymentMint.now, "accepted, and nobody signed this time")
        }
        return true
    }
}
