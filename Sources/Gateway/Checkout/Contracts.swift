package import Domain
import FoundationEssentials
import Store

/// The payment contracts of orders.
package struct Contracts: Sendable {
    let store: StoreAccess
    let orders: Orders
    let keyRing: KeyRing
    let publicURL: String
    /// The real clock, by which wallets end what they gave.
    let time: TimeSource

    /// Returns the contract of a user's order, as it was made for its latest payment.
    ///
    /// - Throws: `orderNotFound`; `contractGone` where the order is not open; `instructionExpired` where another attempt
    ///   is needed; `notFound` when no provider has answered yet.
    package func find(_ order: String, user: ExternalUserID) async throws(GatewayError) -> PaymentContract {
        let found = try await orders.own(order, user: user)
        guard found.state == .open else { throw .contractGone }
        let contract = try await contract(of: found.id)
        guard !hasExpired(contract.instruction) else { throw .instructionExpired }
        return contract
    }

    /// Returns whether a wallet refuses the instruction by now, although the order is open.
    func hasExpired(_ instruction: PaymentInstruction) -> Bool { instruction.expiresAt.map { $0 <= time.now } ?? false }

    /// The text of the QR code of a payment or a set-up, for anybody who has the image's address.
    ///
    /// - Throws: `notFound`; `contractGone` where the order is not open, or the set-up is over.
    package func qrText(_ subject: String) async throws(GatewayError) -> String {
        if let setup = ID<Setup>(subject) { return try await qrText(of: setup) }
        guard let id = ID<Payment>(subject) else { throw .notFound }
        let (found, order) = try await store.read { db in
            let found = try db.payments.find(id).value()
            return (found, try found.flatMap { try db.orders.find($0.payment.order) })
        }
        guard let found, let order, case .qr(let text)? = try instruction(found) else { throw .notFound }
        guard order.state == .open else { throw .contractGone }
        return text
    }

    private func qrText(of setup: ID<Setup>) async throws(GatewayError) -> String {
        let found = try await store.read { db in try db.setups.find(setup) }
        guard let found, case .qr(let text)? = try instruction(found) else { throw .notFound }
        guard !found.state.isFinal else { throw .contractGone }
        return text
    }

    /// The address of the image of a contract's QR code; nil for other contracts.
    private func qrImageURL(_ instruction: PaymentInstruction, of subject: String) -> String? {
        instruction.type == .qr ? "\(publicURL)/v1/public/payments/\(subject)/qr.svg" : nil
    }

    /// Returns the contract of an order's latest payment; for a free order, a contract without an action.
    func contract(of order: ID<Order>) async throws(GatewayError) -> PaymentContract {
        let (found, latest, renewal, setup) = try await store.read { db in
            let found = try db.orders.find(order)
            let latest = try db.payments.list(of: order).value().last {
                $0.payment.original == nil && $0.mandate == nil
            }
            let renewal = try found.flatMap { found in
                try latest.flatMap { try Self.renewal(of: found, madeAt: $0.payment.createdAt, in: db) }
            }
            let setup = try found?.period.flatMap { _ in try db.setups.find(of: order) }
            return (found, latest, renewal, try setup.flatMap { try OpenedSetupRecord.load($0, from: db) })
        }
        guard let found else { throw .notFound }
        if let latest { return try contract(found, latest, renewal: renewal) }
        if let setup { return try contract(setup) }
        guard found.state == .paid, let amount = found.amount else { throw .notFound }
        return PaymentContract(
            order: order, payment: nil, provider: nil, status: .succeeded, recurring: false, amount: amount,
            expiresAt: found.expiresAt, pollAfterMilliseconds: Self.pollInterval, instruction: .none)
    }

    /// The contract of one payment.
    func contract(of payment: ID<Payment>) async throws(GatewayError) -> PaymentContract {
        let found = try await store.read { db -> (Order, PaymentRecord, RecurringContract?)? in
            guard let record = try db.payments.find(payment).value(),
                let order = try db.orders.find(record.payment.order)
            else {
                return nil
            }
            return (order, record, try Self.renewal(of: order, madeAt: record.payment.createdAt, in: db))
        }
        guard let (order, record, renewal) = found else { throw .notFound }
        return try contract(order, record, renewal: renewal)
    }

    /// - Parameters:
    ///   - opened: the instruction where it is known; nil opens the sealed one.
    ///   - renewal: the part about renewals by Paydesk; nil for other orders.
    func contract(
        _ order: Order, _ record: PaymentRecord, opened: PaymentInstruction? = nil, renewal: RecurringContract?
    ) throws(GatewayError) -> PaymentContract {
        let payment = record.payment
        // A payment whose opening was not answered, but that the payer has paid, needs no action.
        let nothing: PaymentInstruction? = payment.state == .succeeded ? PaymentInstruction.none : nil
        let kept: PaymentInstruction? = if let opened { opened } else { try instruction(record) }
        guard let instruction = kept ?? nothing else { throw .notFound }
        return PaymentContract(
            order: order.id, payment: payment.id, provider: payment.account, status: payment.state,
            recurring: record.recurring, amount: payment.amount, expiresAt: order.payableUntil(by: payment),
            pollAfterMilliseconds: Self.pollInterval, instruction: instruction,
            qrImageURL: qrImageURL(instruction, of: payment.id.rawValue),
            renewal: renewal)
    }

    /// Makes the contract of a set-up, which moves no money.
    ///
    /// - Throws: `notFound` where its provider has not answered.
    func contract(_ opened: OpenedSetupRecord) throws(GatewayError) -> PaymentContract {
        let (setup, subscription) = (opened.setup, opened.subscription)
        guard let order = opened.order, let instruction = try instruction(setup) else { throw .notFound }
        return PaymentContract(
            order: order, payment: nil, provider: setup.account, status: setup.state, recurring: true,
            amount: Money(value: 0, currency: subscription.price.currency), expiresAt: setup.expiresAt,
            pollAfterMilliseconds: Self.pollInterval, instruction: instruction,
            qrImageURL: qrImageURL(instruction, of: setup.id.rawValue),
            renewal: RecurringContract(
                subscription, setup: setup.id, nextAmount: opened.nextAmount, madeAt: setup.createdAt))
    }

    private static let pollInterval: Int64 = 2_000

    /// The instruction of a set-up; nil where its provider has not answered.
    func instruction(_ setup: SetupRecord) throws(GatewayError) -> PaymentInstruction? {
        guard let sealed = setup.instruction else { return nil }
        do { return try SealedInstruction.open(sealed, ofSetup: setup.id, by: keyRing) } catch { throw .internalError }
    }

    /// The instruction of a payment; nil where its provider has not answered.
    func instruction(_ record: PaymentRecord) throws(GatewayError) -> PaymentInstruction? {
        guard let sealed = record.instruction else { return nil }
        do { return try SealedInstruction.open(sealed, of: record.payment.id, by: keyRing) } catch {
            throw .internalError
        }
    }
}

/// The payer's instruction in its sealed, stored form.
enum SealedInstruction {
    private static func place(_ payment: ID<Payment>) -> String { "payments.instruction/\(payment.rawValue)" }
    static func place(setup: String) -> String { "setups.instruction/\(setup)" }

    static func seal(_ instruction: PaymentInstruction, ofSetup setup: ID<Setup>, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(try JSONText.encoded(instruction), context: place(setup: setup.rawValue))
    }

    static func open(_ sealed: Data, ofSetup setup: ID<Setup>, by keyRing: KeyRing) throws -> PaymentInstruction {
        let opened = try keyRing.open(sealed, context: place(setup: setup.rawValue))
        return try JSONDecoder().decode(PaymentInstruction.self, from: opened)
    }

    static func seal(_ instruction: PaymentInstruction, of payment: ID<Payment>, by keyRing: KeyRing) throws -> Data {
        try keyRing.seal(try JSONText.encoded(instruction), context: place(payment))
    }

    static func open(_ sealed: Data, of payment: ID<Payment>, by keyRing: KeyRing) throws -> PaymentInstruction {
        try JSONDecoder().decode(PaymentInstruction.self, from: try keyRing.open(sealed, context: place(payment)))
    }
}

extension Order {
    /// The end of a payment's contract: the order's, or a day after it began where a renewal is open for longer.
    func payableUntil(by payment: Payment) -> Timestamp {
        origin == .renewal ? max(expiresAt, payment.createdAt.adding(days: 1)) : expiresAt
    }
}
