/// Bounds on a receipt, checked before anything is decoded.
enum ReceiptLimits {
    /// Characters of base64, as many as a request may carry.
    static let text = 2 << 20
    static let purchases = 4_096
    /// Bytes of one certificate, because its extensions are parsed as well.
    static let certificate = 8_192
    /// Octets of an id or a name.
    static let name = 255
}
