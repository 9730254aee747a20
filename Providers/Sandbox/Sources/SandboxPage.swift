import Domain

/// The pay page: a complete document without scripts and styles, which the strictest content policy allows.
enum SandboxPage {
    static func html(_ id: ID<Payment>, _ payment: SandboxPayment, now: Timestamp) -> String {
        let title = payment.title.isEmpty ? "Payment" : payment.title
        let rows = [
            ("Amount", payment.amount.description), ("Order", payment.order?.rawValue ?? "–"),
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
            </head>
            <body>
            <main>
            <h1>\(escaped(title))</h1>
            <p>This is the sandbox of a development server. No money moves.</p>
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
        <button type="submit" name="outcome" value="succeed">Pay</button>
        <button type="submit" name="outcome" value="fail">Let it fail</button>
        <button type="submit" name="outcome" value="pending">Leave it pending</button>
        </p>
        </form>
        """

    private static func returnLink(_ payment: SandboxPayment) -> String {
        payment.returnURL.map { "<p><a href=\"\(escaped($0))\">Back to the app</a></p>" } ?? ""
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
