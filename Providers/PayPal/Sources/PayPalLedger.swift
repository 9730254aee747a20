import Domain
import FoundationEssentials
import ProviderKit

/// The record of a payment that outlives the process.
///
/// PayPal can neither be asked for an order by our ids nor cancel one, and takes no money before it is told to capture. So
/// the order's id stands here as soon as it is known, and a payment that was cancelled is never captured again.
struct PayPalRecord: Codable, Sendable, Equatable {
    enum State: String, Codable, Sendable {
        case open
        /// A capture was, or is about to be, asked for, and may take money.
        case capturing
        /// The payment was cancelled while a capture might take its money: no other one is asked for.
        case closing
        /// The order is never captured.
        case closed
    }

    var order: String?
    var state: State
    /// The number of captures that are being asked for.
    var captures: Int?
    /// The number of captures that PayPal refused for certain; the next one takes a new request id.
    var refusals: Int?
    /// The time when the last one was asked for.
    var askedAt: Timestamp?
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
    /// - Returns: what holds now; `closing` and `closed` forbid it.
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

    /// To be told after every capture that did not take the money.
    ///
    /// - Parameter isRefused: PayPal said no, so that no capture before this one has taken it either: where none is being
    ///   asked for beside it, none may take it any more.
    func endCapture(_ payment: ID<Payment>, isRefused: Bool) async {
        // Where this is not kept, a capture counts as being asked for, which is the careful side.
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
    /// - Parameter evenCapturing: the order shows that none took effect.
    /// - Returns: what holds now; `closing` where one may take the money yet.
    func close(
        _ payment: ID<Payment>, at now: Timestamp, evenCapturing: Bool = false
    ) async throws(ProviderError) -> PayPalRecord {
        try await change(payment) { old in
            guard var record = old else { return PayPalRecord(state: .closed) }
            let mayTake = record.state == .capturing || record.state == .closing
            record.state = mayTake && !evenCapturing ? .closing : .closed
            // A record may have been stored when captures had no time yet.
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
