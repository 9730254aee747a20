import Domain
import FoundationEssentials
import Store

/// The payer's address, which is stored until the provider has opened the payment.
///
/// A repetition of that call must have the same parameters, whatever the address of the repeated request; afterwards
/// the address is not needed.
enum PayerAddress {
    private static func place(_ payment: ID<Payment>) -> String { "payments.payer_address/\(payment.rawValue)" }

    static func seal(_ address: IPAddress, of payment: ID<Payment>, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(Data(address.description.utf8), context: place(payment))
    }

    /// - Returns: nil where the key ring lacks the key; the provider is then called without the address.
    static func open(_ sealed: Data, of payment: ID<Payment>, by keyRing: KeyRing) -> String? {
        guard let opened = try? keyRing.open(sealed, context: place(payment)) else { return nil }
        return String(decoding: opened, as: UTF8.self)
    }
}

/// The payer's instruction in its sealed, stored form.
enum SealedInstruction {
    private static func place(_ payment: ID<Payment>) -> String { "payments.instruction/\(payment.rawValue)" }

    static func seal(_ instruction: PaymentInstruction, of payment: ID<Payment>, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(try JSONEncoder().encode(instruction), context: place(payment))
    }

    static func open(_ sealed: Data, of payment: ID<Payment>, by keyRing: KeyRing) throws -> PaymentInstruction {
        try JSONDecoder().decode(PaymentInstruction.self, from: try keyRing.open(sealed, context: place(payment)))
    }
}
