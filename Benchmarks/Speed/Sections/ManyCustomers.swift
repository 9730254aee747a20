import Domain
import Foundation
import ProviderKit
import Synchronization
import TestSupport

/// Apple's server API for any number of customers, each with one subscription that was renewed once; it stores none of
/// them.
///
/// The object records the memory of this process at regular intervals of customers.
final class ManyCustomers: HTTPTransport {
    private struct State {
        var asked = 0
        var samples: [(asked: Int, mebibytes: Double)] = []
    }

    private static let firstID = 3_000_000_000_000_000
    private static let month: Int64 = 30 * 86_400
    private static let start = Timestamp(1_767_225_600)

    private let interval: Int
    private let state = Mutex(State())

    init(sampling interval: Int) { self.interval = interval }

    /// The transaction of a period of a customer's subscription.
    ///
    /// - Parameter period: 0 or 1.
    static func sale(_ number: Int, period: Int64) -> AppleSale {
        let bought = start.adding(seconds: (period - 1) * month)
        return AppleSale("com.example.apple.auto", AppleSale.subscription, at: bought) {
            $0.original = "\(firstID + number * 2)"
            $0.id = "\(firstID + number * 2 + Int(period))"
            $0.expires = $0.purchased + month * 1_000
            $0.isRenewal = period > 0
            ($0.price, $0.currency) = (29_900, "CNY")
        }
    }

    /// The most memory, in mebibytes, that was recorded up to a number of customers.
    func peak(before number: Int) -> Double {
        state.withLock { $0.samples.filter { $0.asked <= number }.map(\.mebibytes).max() ?? 0 }
    }

    func send(_ request: OutgoingRequest) async throws(HTTPTransportError) -> IncomingReply {
        guard let url = URLComponents(string: request.url) else { return IncomingReply(status: 400) }
        guard !url.path.hasSuffix("notifications/history") else {
            return Self.reply(#"{"hasMore":false,"notificationHistory":[]}"#)
        }
        guard let id = url.path.split(separator: "/").last.flatMap({ Int($0) }) else {
            return IncomingReply(status: 404)
        }
        let number = (id - Self.firstID) / 2
        let renewed = Self.sale(number, period: 1)
        guard url.path.contains("/subscriptions/") else {
            return Self.reply(
                """
                {"revision":"2","hasMore":false,
                 "signedTransactions":["\(Self.sale(number, period: 0).jws)","\(renewed.jws)"]}
                """)
        }
        note()
        return Self.reply(
            """
            {"environment":"Production","data":[{"subscriptionGroupIdentifier":"1","lastTransactions":[
             {"originalTransactionId":"\(renewed.original ?? renewed.id)","status":1,
              "signedTransactionInfo":"\(renewed.jws)","signedRenewalInfo":"\(AppleRenewal(renewed).jws)"}]}]}
            """)
    }

    private static func reply(_ body: String) -> IncomingReply { IncomingReply(status: 200, body: Data(body.utf8)) }

    private func note() {
        state.withLock { state in
            state.asked += 1
            guard state.asked.isMultiple(of: interval) else { return }
            state.samples.append((state.asked, Memory.residentMebibytes))
        }
    }
}
