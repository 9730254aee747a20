/// Every target, one line each.
enum Targets {
    static let all: [any FuzzTarget] = [
        JWSTextTarget(),
        JWSHeaderTarget(),
        JWSPayloadTarget(),
        JWSCertificateTarget(),
        ReceiptMessageTarget(),
        ReceiptContentTarget(),
        PaymentTokenTarget(),
        PaymentMessageTarget(),
    ]
}
