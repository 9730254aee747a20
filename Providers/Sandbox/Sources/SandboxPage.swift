import Domain

/// The pay page: a complete document without scripts, which looks like the cashier.
enum SandboxPage {
    static func html(_ id: ID<Payment>, _ payment: SandboxPayment, now: Timestamp) -> String {
        let title = payment.title.isEmpty ? "Payment" : payment.title
        let rows = [
            ("Order", payment.order?.rawValue ?? "–"),
            ("Payment", id.rawValue), ("State", state(payment, now: now)),
        ]
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="robots" content="noindex">
            <title>\(escaped(title)) – Sandbox</title>
            <style>\(style)</style>
            </head>
            <body>
            <main>
            <p class="test"><b>Test</b> · no real money moves</p>
            <h1>\(escaped(title))</h1>
            <p class="amount">\(escaped(payment.amount.description))</p>
            <p class="lead">\(payment.settled(now).status == .pending ? "Choose how this payment ends." : "")</p>
            <dl>
            \(rows.map { "<dt>\($0)</dt><dd>\(escaped($1))</dd>" }.joined(separator: "\n"))
            </dl>
            \(payment.settled(now).status == .pending ? form : returnLink(payment))
            </main>
            </body>
            </html>

            """
    }

    /// The form, which posts to the page's own address, whatever proxy is before it.
    private static let form = """
        <form method="post">
        <p>
        <button class="main" type="submit" name="outcome" value="succeed" data-action="outcome">Pay</button>
        <button type="submit" name="outcome" value="fail" data-action="outcome">Let it fail</button>
        <button type="submit" name="outcome" value="pending" data-action="outcome">Leave it pending</button>
        </p>
        </form>
        """

    /// The cashier's colours, sizes and controls (`Sources/Pages/Assets/sdk/tokens.css`).
    private static let style = """
        :root { color-scheme: light dark; --surface: #ffffff; --ground: #f5f6f8; --text: #1c2026; --muted: #5a6270;
          --line: #dde1e7; --accent: #0a6cff; --warn: #7a4b00; --warn-soft: #fff3d6; }
        @media (prefers-color-scheme: dark) { :root { --surface: #1b1e24; --ground: #111318; --text: #f1f3f6;
          --muted: #a9b1bd; --line: #343a44; --warn: #ffd68a; --warn-soft: #3a2c0c; } }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, -apple-system,
          "PingFang SC", "Microsoft YaHei", "Noto Sans SC", sans-serif; font-variant-numeric: tabular-nums; }
        main { max-width: 440px; min-height: 100vh; margin: 0 auto; padding: 16px; background: var(--surface); }
        .test { margin: 0 0 24px; padding: 8px 12px; border-radius: 8px; background: var(--warn-soft);
          color: var(--warn); font-size: 13px; }
        h1 { margin: 0; font-size: 17px; font-weight: 600; overflow-wrap: anywhere; }
        .amount { margin: 4px 0 0; font-size: 28px; font-weight: 700; }
        .lead { margin: 8px 0 0; color: var(--muted); }
        dl { margin: 24px 0; padding: 16px 0; border: solid var(--line); border-width: 1px 0; font-size: 13px; }
        dt { color: var(--muted); } dd { margin: 0 0 8px; overflow-wrap: anywhere; }
        form p { display: grid; gap: 12px; margin: 0; }
        button, .button { display: block; width: 100%; min-height: 48px; padding: 12px 16px; border-radius: 8px;
          border: 1px solid var(--line); background: transparent; color: inherit; font: inherit; font-weight: 600;
          text-align: center; text-decoration: none; cursor: pointer; }
        .main { border-color: transparent; background: var(--accent); color: #ffffff; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        @media (min-width: 720px) { main { min-height: 0; margin-top: 64px; padding: 24px; border-radius: 12px;
          border: 1px solid var(--line); } }
        """

    private static func returnLink(_ payment: SandboxPayment) -> String {
        payment.returnURL.map { "<p><a class=\"button\" href=\"\(escaped($0))\">Back to the app</a></p>" } ?? ""
    }

    private static func state(_ payment: SandboxPayment, now: Timestamp) -> String {
        if payment.isExpired(now) { return "This payment has expired and cannot be paid any more." }
        return switch payment.status {
        case .pending: "This payment waits for you."
        case .succeeded:
            payment.refunds.values.contains(where: \.succeeded) ? "Paid, and refunded in part or whole." : "Paid."
        case .failed: "The payment failed."
        case .cancelled: "This payment was cancelled and cannot be paid any more."
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
