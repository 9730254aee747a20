import Domain
import ProviderKit

extension Check {
    static let opening = [
        Check("opening gives an instruction of the account's contract types") { stage in
            let provider = try stage.provider()
            let opened = try await stage.open(provider, try stage.attempt())
            try stage.expect(
                provider.contractTypes.contains(opened.instruction.type),
                "the instruction is \(opened.instruction.type)")
            try stage.expect(!isEmpty(opened.instruction), "a field of the instruction is empty")
        },
        Check("one payment id opens one payment, however often") { stage in
            let provider = try stage.provider()
            let attempt = try stage.attempt()
            let first = try await stage.open(provider, attempt)
            let others = try await stage.openManyTimes(attempt, provider)
            for other in others {
                try stage.expect(other.instruction == first.instruction, "a repetition gave another instruction")
                try stage.expect(other.reference == first.reference, "a repetition gave another reference")
            }
            guard await stage.wasAsked else { return }
            let payments = try await stage.effects(of: attempt.payment).payments
            try stage.expect(payments == 1, "the payment service has \(payments) payments for one")
        },
        Check("two payment ids open two payments") { stage in
            let provider = try stage.provider()
            let first = try stage.attempt()
            let second = try stage.attempt(4_990)
            let references = [
                stage.reference(first, try await stage.open(provider, first)),
                stage.reference(second, try await stage.open(provider, second)),
            ]
            if let one = references[0].reference {
                try stage.expect(one != references[1].reference, "both have the reference \(one)")
            }
            for reference in references {
                let outcome = try await stage.query(provider, reference).outcome
                if case .succeeded(let amount) = outcome {
                    try stage.expect(amount == reference.amount, "the amount is the other payment's: \(amount)")
                }
            }
        },
        Check("what it can never charge it refuses before anything is asked") { stage in
            let provider = try stage.provider()
            let usual = try stage.attempt()
            try stage.expect(provider.amountFault(usual.amount) == nil, "it says that it cannot charge \(usual.amount)")
            for currency in Set(stage.manifest.currencies.prefix(3) + [usual.amount.currency]) {
                for value in [1, 7, 101, 2_345, 20_050] as [Int64] {
                    let amount = Money(value: value, currency: currency)
                    // The cashier never opens a payment of zero.
                    guard let fault = provider.amountFault(amount), fault != .notPositive else { continue }
                    try stage.expect(provider.amountFault(amount) == fault, "it changes its mind about \(amount)")
                    let asked = stage.transport.requests.count
                    try await stage.expectRefusal("opening \(amount)") {
                        try await provider.open(try stage.attempt(value, in: currency))
                    }
                    try stage.expect(stage.transport.requests.count == asked, "it asked for \(amount) all the same")
                }
            }
        },
        Check("a restarted provider goes on where it stopped") { stage in
            let before = try stage.provider()
            let attempt = try stage.attempt()
            let opened = try await stage.open(before, attempt)
            let said = try await stage.query(before, stage.reference(attempt, opened))
            let after = try stage.provider()
            try stage.expect(
                try await stage.query(after, stage.reference(attempt, opened)) == said, "a new instance says otherwise")
            let again = try await stage.open(after, attempt)
            try stage.expect(again.instruction == opened.instruction, "a new instance gives another instruction")
        },
    ]

    private static func isEmpty(_ instruction: PaymentInstruction) -> Bool {
        switch instruction {
        case .appleIAP(let products, let token, let hint): products.isEmpty || token.isEmpty || hint.isEmpty
        case .stripe(let key, let secret, let method): key.isEmpty || secret.isEmpty || method?.isEmpty ?? false
        case .url(let text), .qr(let text): text.isEmpty
        case .applePay(let request): request.applicationData.isEmpty || request.total.amount.isEmpty
        case .alipayApp(let text): text.isEmpty
        case .wechatApp(let parameters):
            [
                parameters.appid, parameters.partnerid, parameters.prepayid, parameters.package, parameters.noncestr,
                parameters.timestamp, parameters.sign,
            ].contains("")
        case .wechatJSAPI(let parameters):
            [
                parameters.appId, parameters.timeStamp, parameters.nonceStr, parameters.package, parameters.signType,
                parameters.paySign,
            ].contains("")
        case .none: false
        }
    }
}

extension ConformanceFixture {
    /// True where a call reached the payment service.
    var wasAsked: Bool {
        get async {
            let writes = await book.writes
            // A wallet's contract is made in this process, so its book entries are no calls to a payment service.
            let isWallet = (try? provider()) is any InstrumentVerifying
            return (writes > 0 && !isWallet) || !transport.requests.isEmpty
        }
    }

    /// Repeats an opening by the same instance and by others, one after the other and concurrently.
    func openManyTimes(_ attempt: PaymentAttempt, _ same: any PaymentProvider) async throws -> [OpenedPayment] {
        var opened = [try await open(same, attempt), try await open(provider(), attempt)]
        let instances = try (0..<8).map { _ in try provider() }
        try await withThrowingTaskGroup(of: OpenedPayment.self) { group in
            for instance in instances {
                group.addTask { try await self.open(instance, attempt) }
            }
            for try await one in group { opened.append(one) }
        }
        return opened
    }
}
