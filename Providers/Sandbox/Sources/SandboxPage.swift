import Domain
import ProviderKit

/// The pay page: a complete document without scripts, in the language of the visitor, which looks like the cashier.
struct SandboxPage {
    /// The id of a payment or of a set-up.
    let id: String
    let payment: SandboxPayment
    let now: Timestamp
    let words: SandboxWords
    /// True where the payer has agreed to the subscription's terms before.
    var hasAgreed = false

    init(_ id: String, _ payment: SandboxPayment, now: Timestamp, for visitor: PageVisitor) {
        self.id = id
        self.payment = payment
        self.now = now
        words = SandboxWords(visitor)
    }

    var html: String {
        let title = payment.title.isEmpty ? words.payment : payment.title
        let rows = [
            (words.order, payment.order?.rawValue ?? "–"), (words.payment, id), (words.state, state),
        ]
        let waits = payment.settled(now).status == .pending
        return """
            <!DOCTYPE html>
            <html lang="\(words.language)" data-page="sandbox">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(Self.escaped(title)) · \(words.sandbox)</title>
            <style>\(Self.style)</style>
            </head>
            <body data-test>
            <header>
            <p class="test"><b>\(words.test)</b> · \(words.testText)</p>
            <form method="get">
            <button class="lang" name="lang" value="\(words.other.language)" data-action="language" \
            data-lang="\(words.other.language)" lang="\(words.other.language)">\(words.other.name)</button>
            </form>
            </header>
            <main data-state="sandbox" data-payment="\(id)">
            <p class="name">\(Self.escaped(title))</p>
            <p class="amount" data-amount="\(payment.amount.value)" data-currency="\(payment.amount.currency.code)">\
            \(Self.escaped(amount))</p>
            <h1>\(waits ? words.question : Self.escaped(state))</h1>
            \(waits ? form : returnLink)
            <dl>
            \(rows.map { "<dt>\($0)</dt><dd>\(Self.escaped($1))</dd>" }.joined(separator: "\n"))
            </dl>
            <p class="note">\(words.note)</p>
            </main>
            </body>
            </html>

            """
    }

    private var amount: String { payment.amount.written(in: words.language) }

    /// The form, which posts to the page's own address, whatever proxy is before it.
    private var form: String {
        let acts: [(SandboxPayerAct, String, String)] = [
            (.succeed, words.pay(amount), words.payHelp), (.fail, words.decline, words.declineHelp),
            (.pending, words.leave, words.leaveHelp),
        ]
        let buttons = acts.map { act, name, help in
            """
            <button\(act == .succeed ? " class=\"main\"" : "") type="submit" name="outcome" value="\(act.rawValue)" \
            data-action="outcome" data-outcome="\(act.rawValue)"><b>\(Self.escaped(name))</b> <span>\(help)</span></button>
            """
        }
        return """
            <form method="post">
            \(agreement)
            \(buttons.joined(separator: "\n"))
            </form>
            """
    }

    /// The terms of a mandate with their box, and the fields by which renewals are played.
    ///
    /// The box is ticked for another payment method and for a charge that the payer confirms, not for a first purchase.
    private var agreement: String {
        guard let mandate = payment.mandate else { return "" }
        let choices = SandboxAgreement.Renewals.allCases.map { each in
            "<option value=\"\(each.rawValue)\">\(Self.escaped(words.renewals(each)))</option>"
        }
        return """
            <p class="terms" data-terms>\(Self.escaped(mandate.terms))</p>
            <label class="agree">
            <input type="checkbox" name="terms" value="accepted"\(hasAgreed ? " checked" : "")> <span>\(words.agree)</span>
            </label>
            <details><summary>\(words.later)</summary>
            <label>\(words.laterCharges)<select name="renewals">\(choices.joined())</select></label>
            <label>\(words.instrument)<input type="text" name="instrument" maxlength="100" autocomplete="off"></label>
            </details>
            """
    }

    /// The cashier's colours, sizes and controls (`Sources/Pages/Assets/sdk/tokens.css`).
    private static let style = """
        :root { color-scheme: light dark; --surface: #ffffff; --ground: #f5f6f8; --text: #1c2026; --muted: #5a6270;
          --line: #dde1e7; --accent: #0a6cff; --accent-soft: #ffffff; --warn: #7a4b00; --warn-soft: #fff3d6; }
        @media (prefers-color-scheme: dark) { :root { --surface: #1b1e24; --ground: #111318; --text: #f1f3f6;
          --muted: #a9b1bd; --line: #343a44; --warn: #ffd68a; --warn-soft: #3a2c0c; } }
        * { box-sizing: border-box; }
        body { margin: 0; min-height: 100vh; background: var(--surface); color: var(--text);
          font: 15px/1.5 system-ui, -apple-system, "PingFang SC", "Microsoft YaHei", "Noto Sans SC", sans-serif;
          font-variant-numeric: tabular-nums; }
        header { display: flex; gap: 12px; align-items: center; justify-content: space-between; max-width: 440px;
          margin: 0 auto; padding: 16px 16px 0; }
        main { max-width: 440px; margin: 0 auto; padding: 16px; background: var(--surface); }
        p { margin: 0; }
        .test { padding: 8px 12px; border-radius: 8px; background: var(--warn-soft); color: var(--warn);
          font-size: 13px; }
        .name { overflow-wrap: anywhere; }
        .amount { margin-top: 4px; font-size: 28px; line-height: 1.25; font-weight: 700; overflow-wrap: anywhere; }
        h1 { margin: 24px 0 12px; padding-top: 20px; border-top: 1px solid var(--line); font-size: 17px;
          font-weight: 600; overflow-wrap: anywhere; }
        dl { margin: 24px 0 0; padding-top: 16px; border-top: 1px solid var(--line); font-size: 13px; }
        dt, .note { color: var(--muted); } dd { margin: 0 0 8px; overflow-wrap: anywhere; }
        .note { font-size: 13px; }
        main form { display: grid; gap: 12px; }
        button, .button { display: block; width: 100%; min-height: 48px; padding: 10px 16px; border-radius: 8px;
          border: 1px solid var(--line); background: transparent; color: inherit; font: inherit; text-align: start;
          text-decoration: none; cursor: pointer; }
        button b, .button { font-weight: 600; }
        button span { display: block; color: var(--muted); font-size: 13px; }
        .terms { font-size: 13px; overflow-wrap: anywhere; }
        label { display: block; } .agree { display: flex; gap: 12px; align-items: center; min-height: 44px; }
        .agree input { width: 20px; height: 20px; flex: none; } summary { min-height: 44px; padding: 10px 0; }
        details label { padding-bottom: 12px; font-size: 13px; }
        select, input[type=text] { display: block; width: 100%; min-height: 44px; margin-top: 4px; padding: 8px 12px;
          border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: inherit; font: inherit; }
        .main { border-color: transparent; background: var(--accent); color: #ffffff; }
        .main span { color: var(--accent-soft); }
        .button { text-align: center; }
        .lang { width: auto; min-height: 40px; padding: 8px 12px; border-color: transparent; color: var(--muted); }
        button:hover, .button:hover { border-color: var(--accent); }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        @media (min-width: 720px) { body { background: var(--ground); } header { padding: 48px 0 12px; }
          main { padding: 24px; border-radius: 12px; border: 1px solid var(--line); } }
        """

    private var returnLink: String {
        payment.returnURL.map { "<p><a class=\"button\" href=\"\(Self.escaped($0))\">\(words.back)</a></p>" } ?? ""
    }

    private var state: String {
        if payment.isExpired(now) { return words.expired }
        return switch payment.status {
        case .pending: words.waits
        case .succeeded: payment.refunds.values.contains(where: \.succeeded) ? words.refunded : words.paid
        case .failed: words.failed
        case .cancelled: words.cancelled
        }
    }

    /// Escapes text for element content and for quoted attributes.
    static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
    }
}
