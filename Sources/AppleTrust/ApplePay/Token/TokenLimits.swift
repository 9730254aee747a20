/// Bounds on a payment token, checked before anything is decoded; Apple's are under 8 KB.
enum TokenLimits {
    /// Bytes of the whole token as JSON, and of its payment data once decoded.
    static let json = 32_768
    /// Octets of the signature.
    static let signature = 16_384
    /// Characters of the identifier that stands outside of the signature.
    static let identifier = 128
    /// Characters of texts that are only shown.
    static let display = 64
    /// Octets of the key that an RSA token wraps: moduli of 2048 to 4096 bits.
    static let wrappedKey = 256...512
    /// Octets of a transaction id.
    static let transactionID = 32
    /// Octets of the tag at the end of the encrypted data.
    static let tag = 16
}
