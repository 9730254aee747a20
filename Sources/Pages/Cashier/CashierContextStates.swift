import Domain
import Foundation

extension CashierContext {
    func plans(_ session: SessionFacts) -> Context {
        let items = session.skus.compactMap { sku in frame.products.first { $0.sku == sku } }.flatMap { product in
            let options = product.options.map { ($0.days as Int64?, $0.prices) }
            return (options.isEmpty ? [(nil, product.prices)] : options).compactMap { days, prices -> Context? in
                let price = prices.first { session.currency == nil || $0.currency == session.currency }
                return price.map { item(product, days, $0) }
            }
        }
        return context(["items": items, "back": back(session, "back_not_now")])
    }

    private func item(_ product: ProductFacts, _ days: Int64?, _ price: Money) -> Context {
        context([
            "sku": product.sku, "days": days.map(String.init), "name": product.name,
            "help": product.description.isEmpty ? nil : product.description,
            "period": PageWords.period(product, days: days, t), "owned": product.owned,
        ]).merging(shown(price)) { $1 }
    }

    func methods(_ session: SessionFacts) -> Context {
        let product = product(session)
        let isFree = isFree(session)
        let free = MethodFacts(account: "", kind: "none", display_name: "", type: .none)
        let usable = UsableMethods(isFree ? [free] : frame.methods, agent: frame.agent)
        let hidden = usable.items.filter { $0.type == .stripe || $0.type == .applePay }.count
        let items = zip(usable.items, methodWords.words(usable.items)).map { method, words -> Context in
            [
                "value": "\(method.account):\(method.type.rawValue)", "account": method.account, "kind": method.kind,
                "type": method.type.rawValue, "name": words.name, "help": words.help, "icon": words.icon,
                "hidden": method.type == .stripe || method.type == .applePay,
            ]
        }
        return context([
            "summary": summary(session), "title": t[isFree ? "methods_title_free" : "methods_title"],
            "terms": session.terms[product.sku], "items": items,
            "some_hidden": hidden > 0 && hidden < items.count, "all_hidden": hidden > 0 && hidden == items.count,
            "in_wechat": usable.isPartOf, "note": note(session, product, isFree: isFree),
            "back": back(session, "back_not_now"),
        ]).merging(ways(session)) { $1 }
    }

    /// Returns whether there is nothing to pay, now or later.
    func isFree(_ session: SessionFacts) -> Bool { money(session).value == 0 && !product(session).isManaged }

    /// Says how often it is paid and until when; a managed subscription has its own sentence.
    private func note(_ session: SessionFacts, _ product: ProductFacts, isFree: Bool) -> String? {
        guard !isFree, session.terms[product.sku] == nil, let kind = product.kind else { return nil }
        let days = days(session) ?? product.duration_days
        switch kind {
        case .nonConsumable: return t["note_for_good"]
        case .subscription: return nil
        case .consumable: return t["note_once"]
        default: break
        }
        guard let days else { return t["note_once"] }
        if product.owned { return t["note_added"] }
        let ends = frame.now.adding(seconds: days * 86_400 * session.quantity)
        return t.fill("note_ends", ["date": PageWords.day(ends, locale)])
    }

    func qr(_ session: SessionFacts, _ contract: ContractFacts) -> Context {
        let method = runningMethod(session)
        let (name, period) = (
            methodWords.name(method), PageWords.period(product(session), days: days(session), t)
        )
        let code = contract.checkout_url ?? ""
        let app = method.appAddress(of: code).map { address -> Context in
            ["href": address, "text": address == code ? t["qr_open_here"] : t.fill("qr_open", ["name": name])]
        }
        let save: Context = [
            "href": "\(frame.address ?? "")/qr.png", "name": "\(contract.payment_id ?? "code").png",
            "note": t.fill("qr_save_note", ["name": name]),
        ]
        let alt = t.fill("qr_alt", ["amount": amount(money(session)), "name": name])
        let image: Context = ["src": Self.path(of: contract.qr_image_url ?? ""), "alt": alt]
        let expires = contract.expires_at.map { end -> Context in
            ["datetime": PageWords.iso(end), "text": PageWords.left(end.rawValue - frame.now.rawValue)]
        }
        let item = period.map { t.fill("between", ["first": self.name(session), "second": $0]) }
        return context([
            "title": t.fill("qr_title", ["name": name]), "lead": t.fill("qr_lead", ["name": name]),
            "item": item ?? self.name(session), "open": app, "save": save, "image": image, "expires": expires,
        ]).merging(sum(session)) { $1 }.merging(ways(session, check: true)) { $1 }
    }

    private static func path(of address: String) -> String {
        String(address.replacing(/^[A-Za-z]+:\/\/[^\/]*/, with: ""))
    }

    func redirect(_ session: SessionFacts, _ contract: ContractFacts) -> Context {
        let name = methodWords.name(runningMethod(session))
        let text =
            contract.setup == true
            ? t.fill("setup_go", ["name": name])
            : t.fill("redirect_go", ["name": name, "amount": amount(money(session))])
        let goOn: Context = ["href": contract.checkout_url ?? "", "text": text]
        return context([
            "summary": summary(session), "title": t.fill("redirect_title", ["name": name]),
            "lead": t["redirect_lead"], "go_on": goOn,
        ]).merging(ways(session, check: true)) { $1 }
    }

    func stripe(_ session: SessionFacts, _ contract: ContractFacts) -> Context {
        let isSandbox = contract.stripe?.publishable_key.hasPrefix("pk_sandbox_") ?? false
        let amount = ["amount": amount(money(session))]
        func words(_ key: String) -> String { contract.setup == true ? t["stripe_setup"] : t.fill(key, amount) }
        let goOn: Context = [
            "href": "/sandbox/\(contract.payment_id ?? contract.setup_id ?? "")", "text": words("stripe_go_on"),
        ]
        return context([
            "summary": summary(session), "safe": t.fill("stripe_safe", ["shop": frame.branding.name]),
            "go_on": isSandbox ? goOn : nil, "pay": isSandbox ? nil : words("stripe_pay"),
        ]).merging(ways(session)) { $1 }
    }

    func applePay(_ session: SessionFacts) -> Context {
        let button: Context = [
            "text": t.fill("apple_pay_button", ["amount": amount(money(session))]),
            "lang": locale == .chinese ? "zh-CN" : "en",
        ]
        return context(["summary": summary(session), "button": button]).merging(ways(session)) { $1 }
    }

    func appleIAP(_ session: SessionFacts) -> Context {
        context(["summary": summary(session), "products": session.contract?.product_ids ?? []])
            .merging(ways(session, check: true)) { $1 }
    }

    /// WeChat's sheet; another browser, in which the page was opened since, has none.
    func wechat(_ session: SessionFacts) -> Context {
        let pays = PayerBrowser(agent: frame.agent).paysByWeChat
        return context([
            "summary": summary(session), "lead": t[pays ? "wechat_lead" : "wechat_elsewhere"],
            "pay": pays ? t.fill("wechat_pay", ["amount": amount(money(session))]) : nil,
        ]).merging(ways(session, check: true)) { $1 }
    }

    func paid(_ session: SessionFacts, _ order: OrderFacts) -> Context {
        let (name, isFree) = (name(session), order.payments.isEmpty)
        let isTrial = isFree && product(session).isManaged
        let isForGood = session.granted?.perpetual ?? false
        let end = isForGood ? nil : session.granted?.expires_at
        let until = end.map { end -> Context in
            let date = PageWords.day(end, locale)
            let parts = PageWords.split(t["paid_until"], at: "date", date, ["name": name])
            return ["before": parts.before, "datetime": PageWords.iso(end), "text": date, "after": parts.after]
        }
        let way = back(session, "back_to").map {
            $0.merging(["note": t.fill("paid_returns", ["shop": frame.branding.name])]) { $1 }
        }
        return context([
            "title": t[isTrial ? "paid_title_trial" : isFree ? "paid_title_free" : "paid_title"], "until": until,
            "for_good": isForGood ? t.fill("paid_for_good", ["name": name]) : nil,
            "lead": isForGood || end != nil ? nil : t.fill("paid_lead", ["name": name]),
            "receipt": receipt(session, order), "back": way,
        ]).merging(sum(session)) { $1 }
    }
}
