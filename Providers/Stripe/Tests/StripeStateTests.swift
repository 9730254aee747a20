import Domain
import Foundation
import ProviderKit
import Testing

@testable import StripeProvider

struct StripeStateTests {
    private static func intent(_ more: String) throws -> StripeObject.PaymentIntent {
        try JSONDecoder().decode(
            StripeObject.PaymentIntent.self, from: Data(#"{"id":"pi_1","amount":3990,"currency":"usd",\#(more)}"#.utf8))
    }

    private static func session(_ more: String) throws -> StripeObject.CheckoutSession {
        try JSONDecoder().decode(
            StripeObject.CheckoutSession.self,
            from: Data(#"{"id":"cs_1","amount_total":3990,"currency":"usd",\#(more)}"#.utf8))
    }

    @Test(
        arguments: [
            (#""status":"requires_payment_method""#, .accepted), (#""status":"requires_confirmation""#, .accepted),
            (#""status":"requires_action""#, .accepted), (#""status":"processing""#, .processing),
            (#""status":"requires_capture""#, .pending(status: "requires_capture")),
            (#""status":"canceled""#, .cancelled),
            (#""status":"succeeded","amount_received":3990"#, .succeeded(usd(3990))),
            (#""status":"succeeded","amount_received":1"#, .succeeded(usd(1))),
            (#""status":"succeeded""#, .succeeded(usd(3990))),
            (#""status":"SUCCEEDED""#, .pending(status: "SUCCEEDED")),
            (#""status":"""#, .pending(status: "unknown_status")),
            (#""status":"a word\n<b>""#, .pending(status: "unknown_status")),
            (
                #""status":"requires_payment_method","last_payment_error":{"code":"card_declined","decline_code":"lost_card"}"#,
                .tryFailed(reason: "card_declined")
            ),
            (
                #""status":"requires_payment_method","last_payment_error":{"type":"card_error","message":"x"}"#,
                .tryFailed(reason: "card_error")
            ),
            (#""status":"requires_payment_method","last_payment_error":{}"#, .tryFailed(reason: "payment_failed")),
            // An old failure does not apply to the current attempt.
            (#""status":"processing","last_payment_error":{"code":"card_declined"}"#, .processing),
        ] as [(String, PaymentOutcome)])
    func `a PaymentIntent's status is said in our words`(json: String, outcome: PaymentOutcome) throws {
        #expect(try Self.intent(json).outcome() == outcome)
    }

    @Test(
        arguments: [
            (#""status":"open","payment_status":"unpaid""#, .accepted),
            (#""status":"complete","payment_status":"paid""#, .succeeded(usd(3990))),
            (#""status":"complete","payment_status":"unpaid""#, .accepted),
            (#""status":"expired","payment_status":"unpaid""#, .cancelled),
            (
                #""status":"complete","payment_status":"no_payment_required""#,
                .pending(status: "complete_no_payment_required")
            ),
            (#""status":"teleported","payment_status":"unpaid""#, .pending(status: "teleported_unpaid")),
            (#""status":"complete","payment_status":"PAID""#, .pending(status: "complete_PAID")),
            (#""status":"complete""#, .pending(status: "complete")), (#""x":1"#, .pending(status: "unknown_status")),
            (
                #""status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"processing"}"#,
                .processing
            ),
            (
                #""status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"canceled"}"#,
                .cancelled
            ),
            (
                #""status":"complete","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"requires_payment_method"}"#,
                .failed(reason: "payment_failed")
            ),
            (
                #""status":"open","payment_status":"unpaid","payment_intent":{"id":"pi_1","status":"requires_payment_method","last_payment_error":{"code":"card_declined"}}"#,
                .tryFailed(reason: "card_declined")
            ),
            (#""status":"open","payment_status":"unpaid","payment_intent":"pi_1""#, .accepted),
        ] as [(String, PaymentOutcome)])
    func `a session's status is said in our words`(json: String, outcome: PaymentOutcome) throws {
        #expect(try Self.session(json).outcome() == outcome)
    }

    @Test func `a success whose amount cannot be said is no success`() throws {
        let intents = [#""status":"succeeded","amount_received":-1"#, #""status":"succeeded","currency":"xxx""#]
        for json in intents {
            let text = #"{"id":"pi_1","amount":3990,\#(json)}"#
            let intent = try JSONDecoder().decode(StripeObject.PaymentIntent.self, from: Data(text.utf8))
            #expect(throws: StripeFailure.unsayable("bad_amount")) { try intent.outcome() }
        }
    }

    @Test(
        arguments: [
            ("succeeded", .succeeded), ("pending", .pending), ("requires_action", .pending),
            ("canceled", .failed(reason: "refund_canceled")), ("failed", .failed(reason: "lost_or_stolen_card")),
            ("teleported", .pending), ("", .pending),
        ] as [(String, RefundOutcome)])
    func `a refund's status is said in our words`(status: String, outcome: RefundOutcome) throws {
        let text = #"{"id":"re_1","status":"\#(status)","failure_reason":"lost_or_stolen_card"}"#
        #expect(try JSONDecoder().decode(StripeObject.Refund.self, from: Data(text.utf8)).outcome == outcome)
    }

    @Test(
        arguments: [
            ("needs_response", .opened), ("under_review", .opened), ("appeal_needs_response", .opened),
            ("appeal_under_review", .opened), ("won", .won), ("lost", .lost), ("prevented", .won),
            ("warning_needs_response", nil), ("warning_under_review", nil), ("warning_closed", nil),
            ("teleported", nil),
        ] as [(String, DisputeOutcome?)])
    func `a dispute's status is said in our words`(status: String, outcome: DisputeOutcome?) throws {
        let text = #"{"id":"du_1","status":"\#(status)"}"#
        #expect(try JSONDecoder().decode(StripeObject.Dispute.self, from: Data(text.utf8)).outcome == outcome)
    }
}
