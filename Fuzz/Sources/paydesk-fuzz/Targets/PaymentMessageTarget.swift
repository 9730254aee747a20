import AppleTrust

/// A token's signature is hostile: the message, or the attributes in it, soundly signed.
///
/// The first byte chooses: even, the whole message follows; odd, the contents of the signed attributes, which the true
/// key signs.
struct PaymentMessageTarget: FuzzTarget {
    let name = "apple-pay-cms"

    var seeds: [[UInt8]] {
        let parts = PaymentSamples.parts[0]
        let attributes = PaymentSamples.attributes(over: parts.signed)
        let signer = PaymentSamples.signer(parts, attributes, PaymentSamples.sign(attributes, parts))
        let leaf = PaymentSamples.leaf(parts)
        let messages = [
            PaymentSamples.message(leaf, [signer]), PaymentSamples.message(leaf, [signer], isDER: true),
            PaymentSamples.message(leaf + [PaymentCertificates.root], [signer]),
            PaymentSamples.message(leaf.reversed(), [signer]), PaymentSamples.message(leaf, [signer, signer]),
            PaymentSamples.message(leaf, []), PaymentSamples.message([leaf[0]], [signer]),
            PaymentSamples.message([PaymentCertificates.unmarked, leaf[1]], [signer]),
            PaymentSamples.signature(PaymentSamples.parts[2]), [0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0], [],
        ]
        return messages.map { [0] + $0 } + [[1] + attributes, [1]]
    }

    var words: [String] { ["260921141320Z", "20260921141320Z", "991231235960Z"] }

    func run(_ input: [UInt8]) -> Bool {
        let parts = PaymentSamples.parts[0]
        let rest = Array(input.dropFirst())
        let isSigned = (input.first ?? 0) & 1 == 1
        let message =
            isSigned
            ? PaymentSamples.message(
                PaymentSamples.leaf(parts), [PaymentSamples.signer(parts, rest, PaymentSamples.sign(rest, parts))])
            : rest
        let verdict = PaymentVerdict(
            Array(PaymentSamples.token(parts, signature: message).utf8),
            isExplained: input.reduce(0, &+).isMultiple(of: 16))
        guard let token = verdict.token else { return false }
        if isSigned {
            let sound = PaymentSamples.attributes(over: parts.signed)
            // The attribute of the digest, whose last 34 bytes it is.
            Harness.expect(rest.contains(sound.suffix(34)), "accepted without the digest of the content")
        } else {
            Harness.expect(token.signedAt == PaymentSamples.now, "accepted, and nobody signed this time")
        }
        return true
    }
}
