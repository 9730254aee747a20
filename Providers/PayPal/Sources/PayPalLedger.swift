import Domain
import FoundationEssentials
import ProviderKit

/// What this account has to know of a payment for longer than a process lives.
///
/// PayPal can neither be asked for an order by our ids nor cancel one, and takes no money before it is told to capture. So
/// the order's id stands here as soon as it is known, and a payment that was cancelled is never captured again.
struct PayPalRecord: Codable, Sendable, Equatable {
    enum State: String, Codable, Sendable {
        case open
        /// A capture was, or is about to be, asked for, and may take money.
        case capturing
        /// It is never captured.
        case closed
    }

    var order: String?
    var state: State
    /// How many captures are being asked for.
    var captures: Int?
}

/// The records of an account, in its durable book.
struct PayPalLedger: Sendable {
    let book: any AccountBook

    func record(_ payment: ID<Payment>) async throws(ProviderError) -> PayPalRecord? {
        Self.read(try await book.value(Self.key(payment)))
    }

    /// Keeps the order of a payment; one that stands there already stays.
    func open(_ payment: ID<Payment>, _ order: String) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { $0 == nil ? PayPalRecord(order: order, state: .open) : nil }
    }

    /// To be asked before every capture.
    ///
    /// - Returns: what holds now; `closed` forbids it.
    func beginCapture(_ payment: ID<Payment>, _ order: String) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { old in
            guard old?.state != .closed, old?.order ?? order == order else { return nil }
            return PayPalRecord(order: order, state: .capturing, captures: (old?.captures ?? 0) + 1)
        }
    }

    /// To be told after every capture that did not take the money.
    ///
    /// - Parameter isRefused: PayPal said no, so that no capture before this one has taken it either: where none is being
    ///   asked for beside it, none may take it any more.
    func endCapture(_ payment: ID<Payment>, isRefused: Bool) async {
        // Where this is not kept, a capture counts as being asked for, which is the careful side.
        _ = try? await change(payment) { old in
            guard let old, old.state == .capturing else { return nil }
            let others = max(0, (old.captures ?? 1) - 1)
            return PayPalRecord(
                order: old.order, state: isRefused && others == 0 ? .open : .capturing,
                captures: others == 0 ? nil : others)
        }
    }

    /// Forbids captures.
    ///
    /// - Parameter evenCapturing: the order shows that none took effect.
    /// - Returns: what holds now.
    func close(_ payment: ID<Payment>, evenCapturing: Bool = false) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { old in
            guard old?.state != .closed, evenCapturing || old?.state != .capturing else { return nil }
            return PayPalRecord(order: old?.order, state: .closed)
        }
    }

    private func change(
        _ payment: ID<Payment>, _ change: @escaping @Sendable (PayPalRecord?) -> PayPalRecord?
    ) async throws(ProviderError) -> PayPalRecord {
        let stored = try await book.update(Self.key(payment)) { old in
            change(Self.read(old)).flatMap { try? JSONEncoder().encode($0) }
        }
        guard let record = Self.read(stored) else { throw .unavailable }
        return record
    }

    private static func key(_ payment: ID<Payment>) -> String { "payment/\(payment.rawValue)" }

    private static func read(_ data: Data?) -> PayPalRecord? {
        data.flatMap { try? JSONDecoder().decode(PayPalRecord.self, from: $0) }
    }
}
