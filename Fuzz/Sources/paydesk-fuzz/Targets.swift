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
