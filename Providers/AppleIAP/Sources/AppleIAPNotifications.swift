import AppleTrust
import Domain
import Foundation
public import ProviderKit

extension AppleIAPProvider {
    private struct Envelope: Decodable {
        let signedPayload: String
    }

    /// Verifies an App Store Server Notification V2, `{"signedPayload":"…"}`, and each JWS inside.
    ///
    /// Its facts are the signed transaction and renewal information, whatever its type, and a consent that was withdrawn;
    /// a notification of an unknown type is stored and acknowledged like any other.
    public func receive(_ notification: RawNotification) async throws(ProviderError) -> ReceivedNotification {
        guard let envelope = try? JSONDecoder().decode(Envelope.self, from: notification.body) else {
            throw .unproven(.malformed)
        }
        let verified: VerifiedNotification
        do throws(AppleRefusal) {
            verified = try trust.verifier.notification(envelope.signedPayload)
        } catch {
            throw .unproven(UnprovenReason(error.reason))
        }
        log.unread(verified.unreadFields)
        return ReceivedNotification(
            eventID: verified.id,
            type: ([verified.type.rawValue.isEmpty ? "UNKNOWN" : verified.type.rawValue]
                + [verified.subtype].compactMap { $0 }).joined(separator: "/"),
            facts: [
                StoreStatement(verified).map(ProviderFact.store),
                ExternalTokenNotice(verified).map(ProviderFact.externalToken),
                verified.rescission.map(ProviderFact.consent),
            ].compactMap { $0 }, acknowledgement: Acknowledgement(body: ""))
    }
}

extension VerifiedNotification {
    /// The withdrawal of a consent that this notification states; nil for other notifications.
    fileprivate var rescission: ConsentRescission? {
        guard type.known == .rescindConsent, let appTransactionID else { return nil }
        return ConsentRescission(
            environment: Domain.Environment(environment), bundleID: bundleID, appTransactionID: appTransactionID,
            statedAt: signedDate)
    }
}

extension UnprovenReason {
    init(_ reason: AppleRefusal.Reason) {
        switch reason {
        case .malformed: self = .malformed
        case .unsupportedAlgorithm, .badSignature: self = .signature
        case .untrustedChain, .wrongPurpose, .certificateExpired: self = .certificate
        case .wrongApp: self = .otherApp
        case .wrongEnvironment: self = .otherMode
        }
    }
}

extension StoreStatement {
    /// - Returns: nil for a notification that is not about a purchase.
    fileprivate init?(_ notification: VerifiedNotification) {
        guard notification.transaction != nil || notification.renewalInfo != nil else { return nil }
        self.init(
            purchase: notification.transaction.map(StorePurchase.init),
            renewal: notification.renewalInfo.map { StoreRenewal($0, status: notification.status?.known) },
            standing: notification.status.map {
                StoreStanding(isRevoked: $0.known == .revoked, at: notification.signedDate)
            }, asksForConsumption: notification.type.known == .consumptionRequest)
    }
}
