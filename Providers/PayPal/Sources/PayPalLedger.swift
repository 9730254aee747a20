import Domain
import FoundationEssentials
import ProviderKit

/// The durable record of a payment.
///
/// PayPal can neither find an order by our ids nor cancel one, and takes no money without a capture. So the order's id
/// is stored as soon as it is known, and a cancelled payment is never captured again.
struct PayPalRecord: Codable, Sendable, Equatable {
    enum State: String, Codable, Sendable {
        case open
        /// A capture was called, or is about to be, and may take money.
        case capturing
        /// The payment was cancelled while a capture might take its money: no further capture is called.
        case closing
        /// The order is never captured.
        case closed
    }

    var order: String?
    var state: State
    /// The number of captures under way.
    var captures: Int?
    /// The number of captures that PayPal certainly refused; the next one has a new request id.
    var refusals: Int?
    /// The time of the last capture's call.
    var askedAt: Timestamp?
}

/// The records of an account, in its durable book.
struct PayPalLedger: Sendable {
    let book: any AccountBook

    func record(_ payment: ID<Payment>) async throws(ProviderError) -> PayPalRecord? {
        Self.read(try await book.value(Self.key(payment)))
    }

    /// Stores the order of a payment, unless one is stored already.
    func open(_ payment: ID<Payment>, _ order: String) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { $0 == nil ? PayPalRecord(order: order, state: .open) : nil }
    }

    /// Records that a capture begins; called before every capture.
    ///
    /// - Returns: the stored record; `closing` and `closed` forbid the capture.
    func beginCapture(
        _ payment: ID<Payment>, _ order: String, at now: Timestamp
    ) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { old in
            var record = old ?? PayPalRecord(order: order, state: .open)
            guard record.state == .open || record.state == .capturing, record.order ?? order == order else {
                return nil
            }
            record.order = order
            record.state = .capturing
            record.captures = (record.captures ?? 0) + 1
            record.askedAt = now
            return record
        }
    }

    /// Records the end of a capture that did not take the money; called after every such capture.
    ///
    /// - Parameter isRefused: true where PayPal refused it, which excludes earlier captures too: unless another one is
    ///   under way, none can take the money any more.
    func endCapture(_ payment: ID<Payment>, isRefused: Bool) async {
        // If this is not stored, a capture counts as under way, which is the safe assumption.
        _ = try? await change(payment) { old in
            guard var record = old, record.state == .capturing || record.state == .closing else { return nil }
            let others = max(0, (record.captures ?? 1) - 1)
            record.captures = others == 0 ? nil : others
            if isRefused {
                record.refusals = (record.refusals ?? 0) + 1
                if others == 0 { record.state = record.state == .closing ? .closed : .open }
            }
            return record
        }
    }

    /// Forbids captures.
    ///
    /// - Parameter evenCapturing: true where the order shows that none took effect.
    /// - Returns: the stored record; `closing` where a capture may still take the money.
    func close(
        _ payment: ID<Payment>, at now: Timestamp, evenCapturing: Bool = false
    ) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { old in
            guard var record = old else { return PayPalRecord(state: .closed) }
            let mayTake = record.state == .capturing || record.state == .closing
            record.state = mayTake && !evenCapturing ? .closing : .closed
            // Records of earlier releases have no time of a capture.
            if record.state == .closing { record.askedAt = record.askedAt ?? now }
            return record == old ? nil : record
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
