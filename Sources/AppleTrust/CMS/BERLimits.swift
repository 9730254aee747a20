/// The limits on the size of a BER tree; Apple's messages stay far below them.
struct BERLimits: Sendable {
    let bytes: Int
    let depth: Int
    /// Elements; end-of-contents octets are not counted.
    let elements: Int

    /// A whole receipt: the body of a request holds no more bytes, and a segmented content has many elements.
    static let message = BERLimits(bytes: 2 << 20, depth: 24, elements: 32_768)
    /// A receipt's attributes: thousands of purchases.
    static let attributes = BERLimits(bytes: 2 << 20, depth: 8, elements: 32_768)
    /// A purchase, or the value of one attribute.
    static let value = BERLimits(bytes: 65_536, depth: 8, elements: 1_024)
}
