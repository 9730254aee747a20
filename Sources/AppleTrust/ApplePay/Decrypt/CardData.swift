/// The card of a payment, for use only while a closure of `DecryptedToken.withCard` runs.
///
/// It cannot be copied, described or encoded. Its slices show the token's own bytes, which are overwritten when the
/// token is released: a slice that is stored, or text made of it, stays in memory.
public struct CardData: ~Copyable {
    /// The year in which the account number expires, in four digits.
    public let expiryYear: Int
    public let expiryMonth: Int
    private let bytes: [UInt8]
    private let layout: CardLayout

    init(_ bytes: [UInt8], _ layout: CardLayout) {
        self.bytes = bytes
        self.layout = layout
        expiryYear = layout.year
        expiryMonth = layout.month
    }

    /// The device's or the merchant's own account number: 12 to 19 ASCII digits.
    public var accountNumber: ArraySlice<UInt8> { bytes[layout.accountNumber] }
    /// The 3-D Secure cryptogram, decoded; later payments of a merchant token have none.
    public var cryptogram: ArraySlice<UInt8>? { layout.cryptogram.map { bytes[$0] } }
    /// The electronic commerce indicator: one or two digits, to be passed on where it is not nil.
    public var eci: String? { layout.eci.map { String(decoding: bytes[$0], as: UTF8.self) } }
    /// The EMV data of the chip, decoded.
    public var emvData: ArraySlice<UInt8>? { layout.emvData.map { bytes[$0] } }
    /// Decoded.
    public var encryptedPIN: ArraySlice<UInt8>? { layout.encryptedPIN.map { bytes[$0] } }
}

/// The ranges of a card's parts in the bytes of its token.
struct CardLayout: Sendable {
    var year = 0
    var month = 0
    var accountNumber = 0..<0
    var cryptogram: Range<Int>?
    var eci: Range<Int>?
    var emvData: Range<Int>?
    var encryptedPIN: Range<Int>?
}
