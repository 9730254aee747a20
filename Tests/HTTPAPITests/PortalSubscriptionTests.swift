import Domain
import Gateway
import HTTPTypes
import TestSupport
import Testing

@testable import HTTPAPI

@Suite("Subscriptions in the portal")
struct PortalSubscriptionTests {
    private static let day: Int64 = 86_400

    @Test(arguments: TestEngine.allCases)
    func `a renewal is ended after a question, and resumed`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { counter in
            let club = try await counter.subscriber()
            let shown = try await club.visitor.get(club.place)
            #expect(try shown.state == "subscription")
            #expect(try shown.main("subscription") == club.id)
            #expect(shown.text.contains(#"data-amount="3990""#) && !shown.text.contains("data-action=\"confirm\""))
            let asked = try await club.visitor.act("cancel_renewal", at: club.place)
            #expect(asked.header("Location") == club.visitor.path + club.place + "?view=cancel")
            let question = try await club.visitor.get(club.place + "?view=cancel")
            #expect(question.text.contains("data-action=\"confirm\""))
            #expect(try await club.found()["will_renew"] == .bool(true))
            #expect(try await club.visitor.act("cancel_renewal", ["confirmed": "yes"], at: club.place).status == 303)
            #expect(try await club.found()["cancel_at_period_end"] == .bool(true))
            let ended = try await club.visitor.get(club.place)
            #expect(ended.text.contains("data-action=\"resume\"") && !ended.text.contains("cancel-renewal"))
            // The question is over with the renewal.
            #expect(!(try await club.visitor.get(club.place + "?view=cancel").text.contains("\"confirm\"")))
            #expect(try await club.visitor.act("resume", at: club.place).status == 303)
            #expect(try await club.found()["will_renew"] == .bool(true))
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a plan is changed after a preview, and the change taken back`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { counter in
            try await counter.addClub("club_year", price: 39_900, period: "year")
            let club = try await counter.subscriber()
            #expect(try await club.visitor.get(club.place).text.contains("data-action=\"change-plan\""))
            let plans = try await club.visitor.get(club.place + "?view=plans")
            #expect(plans.text.contains(#"<li data-sku="club_year" data-price="39900" data-currency="CNY">"#))
            #expect(plans.text.contains(#"data-sku="club" data-price="3990" data-currency="CNY" data-owned="true""#))
            let asked = try await club.visitor.act("change_plan", ["sku": "club_year"], at: club.place)
            #expect(asked.header("Location")?.hasSuffix("?view=change&sku=club_year") == true)
            let preview = try await club.visitor.get(club.place + "?view=change&sku=club_year")
            #expect(preview.text.contains("¥399.00") && preview.text.contains("every year"))
            #expect(try await club.found()["change_to"] == .null)
            let confirmed = ["sku": "club_year", "confirmed": "yes"]
            #expect(try await club.visitor.act("change_plan", confirmed, at: club.place).status == 303)
            #expect(try await club.found().text("change_to") == "club_year")
            #expect(try await club.found()["next_amount"].int("value") == 39_900)
            #expect(try await club.visitor.get(club.place).text.contains("data-action=\"keep-plan\""))
            _ = try await club.visitor.act("change_plan", ["sku": "club", "confirmed": "yes"], at: club.place)
            #expect(try await club.found()["change_to"] == .null)
            for fields in [["sku": "vip_month", "confirmed": "yes"], ["sku": "nothing", "confirmed": "yes"]] {
                let refused = try await club.visitor.act("change_plan", fields, at: club.place)
                #expect(refused.status == 200 && refused.text.contains(#"data-reason="invalid""#))
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a new payment method replaces the old one, and charges nothing`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { counter in
            let club = try await counter.subscriber()
            let led = try await club.visitor.act("new_card", at: club.place)
            #expect(led.header("Location") == club.visitor.path + club.card)
            #expect(try await club.cardState() == "methods")
            let chosen = ["method": "box-url:url"]
            #expect(try await club.visitor.act("method", chosen, at: club.card).status == 303)
            #expect(try await club.cardState() == "redirect")
            #expect(try await club.cardState("?view=methods") == "methods")
            let page = try await club.visitor.get(club.card)
            #expect(try page.main("setup")?.hasPrefix("stp_") == true)
            #expect(page.text.contains(#"<noscript><meta http-equiv="refresh" content="5"></noscript>"#))
            try await club.play()
            _ = try await club.visitor.act("check", at: club.card)
            #expect(try await club.cardState() == "paid")
            #expect(try await counter.desk.count("mandates WHERE state = 'active'") == 1)
            #expect(try await club.found()["orders"].elements.count == 1)
            // Another look begins again, in this portal and in the next.
            let again = try await club.visitor.act("new_card", at: club.place)
            #expect(again.header("Location")?.hasSuffix("/card?view=methods") == true)
            #expect(try await club.cardState("?view=methods") == "methods")
            let other = try await counter.portal(of: club.user)
            let next = Subscriber(counter: counter, user: club.user, visitor: other, id: club.id)
            #expect(try await next.cardState() == "methods")
        }
    }

    @Test func `a payment method that was refused is told so, and the old one stays`() async throws {
        try await withClub(on: .sqlite) { counter in
            let club = try await counter.subscriber()
            _ = try await club.visitor.act("method", ["method": "box-url:url"], at: club.card)
            try await club.play("fail")
            _ = try await club.visitor.act("check", at: club.card)
            #expect(try await club.cardState() == "methods")
            #expect(try await club.visitor.get(club.card).text.contains(#"data-reason="failed""#))
            #expect(try await counter.desk.count("mandates WHERE state = 'active'") == 1)
            for method in ["", "box-url", "box-url:none", "box-url:cash"] {
                let refused = try await club.visitor.act("method", ["method": method], at: club.card)
                #expect(refused.status == 200 && refused.text.contains(#"data-reason="invalid""#), "\(method)")
            }
        }
    }

    @Test(arguments: TestEngine.allCases)
    func `a renewal that was refused is paid here`(_ engine: TestEngine) async throws {
        try await withClub(on: engine) { counter in
            let first = try await counter.subscriber()
            try await first.play(renewals: "action_required")
            try await first.advance(32 * Self.day)
            let portal = try await counter.portal(of: first.user)
            let club = Subscriber(counter: counter, user: first.user, visitor: portal, id: first.id)
            #expect(try await club.visitor.get().text.contains("data-action=\"pay\""))
            #expect(try await club.visitor.act("pay", at: club.place).header("Location") == portal.path + club.card)
            let choice = try await club.visitor.get(club.card)
            #expect(choice.text.contains(#"data-amount="3990" data-currency="CNY""#))
            #expect(try choice.main("order")?.hasPrefix("ord_") == true)
            _ = try await club.visitor.act("method", ["method": "box-url:url"], at: club.card)
            #expect(try await club.cardState() == "redirect")
            try await club.play()
            counter.desk.clock.advance(seconds: 6)
            _ = try await club.visitor.act("check", at: club.card)
            #expect(try await club.cardState() == "paid")
            #expect(try await club.found().text("status") == "active")
            #expect(try await club.found()["orders"].elements.count == 2)
        }
    }

    @Test func `a portal returns to its own page of a payment method, and to no other`() async throws {
        try await withClub(on: .sqlite) { counter in
            let club = try await counter.subscriber()
            let path = "/v1/public/subscriptions/\(club.id)/payment-method"
            let other = try await counter.portal(of: club.user)
            func reply(_ address: String, _ bearer: String) async throws -> Reply {
                counter.desk.clock.tick()
                return try await counter.post(
                    path, bearer, #"{"platform":"web","accept":["url"],"return_url":"\#(address)"}"#)
            }
            let (token, base) = (club.visitor.session.text("token"), GatewayFixture.publicURL)
            let own = base + club.visitor.path + club.card
            for address in [
                "https://evil.example/", base + other.path + club.card, base + club.visitor.path,
                base + club.visitor.path + "/subscriptions/sub_1/card",
            ] {
                let refused = try await reply(address, token)
                #expect(refused.status == 400 && refused.field == "return_url", "\(address)")
            }
            #expect(try await reply(own, club.user).status == 400)
            let taken = try await reply(own, token)
            #expect(taken.status == 200, "\(taken)")
            #expect(try taken.data["setup"] == .bool(true))
        }
    }

    @Test func `an ended subscription has no payment method here`() async throws {
        try await withClub(on: .sqlite) { counter in
            let club = try await counter.subscriber()
            let path = "/v1/admin/subscriptions/\(club.id)/cancel"
            #expect(try await counter.post(path, counter.adminKey, #"{"when":"now"}"#).status == 200)
            let led = try await club.visitor.get(club.card)
            #expect(led.status == 303 && led.header("Location") == club.visitor.path + club.place)
            for act in ["cancel_renewal", "resume", "new_card", "pay"] {
                let late = try await club.visitor.act(act, ["confirmed": "yes"], at: club.place)
                #expect(late.status == 200 && late.text.contains(#"data-reason="conflict""#), "\(act)")
            }
        }
    }
}
