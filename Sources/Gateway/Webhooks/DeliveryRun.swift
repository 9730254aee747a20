import Domain
import FoundationEssentials
import ServiceLifecycle
import Store

/// A run over an endpoint's due deliveries, with several concurrent requests and many results in one transaction.
struct DeliveryRun: Sendable {
    enum Kind: Sendable {
        case first
        case further
    }

    /// The end of one of the run's tasks.
    private enum Step: Sendable {
        case page([PreparedDelivery])
        case permitted(DeliveryPermit)
        case ended(PreparedDelivery, WebhookReply)
        case written(stops: Bool)
    }

    private static let pageSize: Int64 = 200
    /// The seconds after which a run ends, so that another endpoint gets its turn.
    private static let longest: Int64 = 30
    /// The time limit of an attempt while the clock is moved, which no endpoint may hold up.
    private static let limitInMove = Duration.seconds(2)
    /// The longest time between two attempts of a delivery that keeps failing, plus an hour for the delay of a run.
    private static let longestGap = DeliverySchedule.longestPause + 3_600

    let deliveries: Deliveries
    let job: ClaimedJob
    let kind: Kind
    /// The endpoint in its state at the beginning of the run.
    let record: WebhookRecord
    let secrets: [WebhookSecret]
    let opened: Result<any WebhookSession, WebhookRefusal>

    init(
        _ deliveries: Deliveries, _ job: ClaimedJob, _ kind: Kind, _ record: WebhookRecord,
        _ secrets: [WebhookSecret],
        _ opened: Result<any WebhookSession, WebhookRefusal>
    ) {
        self.deliveries = deliveries
        self.job = job
        self.kind = kind
        self.record = record
        self.secrets = secrets
        self.opened = opened
    }

    /// Makes all attempts that are due.
    ///
    /// - Returns: false where more may be due.
    func drain(width: Int) async throws(GatewayError) -> Bool {
        let session = try? opened.get()
        do throws(GatewayError) {
            let isDone = try await attemptAll(width: width)
            await session?.close()
            return isDone
        } catch {
            await session?.close()
            throw error
        }
    }

    private func attemptAll(width: Int) async throws(GatewayError) -> Bool {
        let until = deliveries.time.real.now.adding(seconds: Self.longest)
        do {
            return try await withThrowingTaskGroup(of: Step.self) { group in
                defer { group.cancelAll() }
                var lines = DeliveryLines(width: width)
                while true {
                    let mayGoOn = deliveries.time.real.now < until && !Task.isShuttingDownGracefully && !lines.isHeld
                    if mayGoOn, lines.wantsPermit() { group.addTask { .permitted(try await permit()) } }
                    if let results = lines.writable() {
                        group.addTask { .written(stops: try await write(results)) }
                    }
                    if mayGoOn, lines.wantsPage() {
                        group.addTask { [last = lines.last] in .page(try await page(after: last)) }
                    }
                    guard let step = try await group.next() else { break }
                    switch step {
                    case .page(let page): lines.add(page, isLast: page.count < Self.pageSize)
                    case .permitted(let permit):
                        for delivery in lines.startable(by: permit) {
                            group.addTask { .ended(delivery, await attempt(delivery)) }
                        }
                    case .ended(let delivery, let reply): lines.end(delivery, result(delivery, reply))
                    case .written(let stops): lines.written(stops: stops)
                    }
                }
                return lines.isExhausted
            }
        } catch let error as GatewayError {
            throw error
        } catch {
            throw .internalError
        }
    }

    /// Reads the next deliveries and makes their messages, with the app's own ids of users.
    private func page(after place: AttemptPosition) async throws(GatewayError) -> [PreparedDelivery] {
        let (webhook, kind, now) = (record.id, kind, deliveries.time.now)
        let due = try await deliveries.store.read { db in
            switch kind {
            case .first: try db.deliveries.listFirstAttempts(of: webhook, after: place, limit: Self.pageSize)
            case .further: try db.deliveries.listRetries(of: webhook, after: place, limit: Self.pageSize, at: now)
            }
        }
        let bodies = try await deliveries.names.fill(all: due.map(Self.body))
        return zip(due, bodies).map {
            PreparedDelivery(
                id: $0.id, event: $0.event, type: $0.type, place: $0.position,
                line: kind == .first ? $0.subject : $0.id.rawValue, attempts: $0.attempts, body: $1,
                trace: $0.trace.flatMap(TraceContext.init(stored:)))
        }
    }

    /// Reads whether the endpoint is unchanged since the run began, and the types that it may get.
    ///
    /// So no delivery starts that a change of the endpoint or of the partner's keys forbids.
    private func permit() async throws(GatewayError) -> DeliveryPermit {
        let (record, now) = (record, deliveries.time.real.now)
        return try await deliveries.store.read { db in
            guard let current = try db.webhooks.find(record.id), current.status == .enabled else { return .ended }
            guard current.url == record.url, current.secret == record.secret else { return .changed }
            return .types(current.deliveredTypes(try db.apiKeys.listScopes(of: current.partner, at: now)))
        }
    }

    /// Makes the body of a message (`docs/api.md` section 10); `data` is the stored snapshot, unchanged.
    private static func body(_ due: DueDelivery) -> Data {
        // A subject may be an id of a store, with characters that JSON escapes.
        let subject = (try? due.subject.storedJSON()) ?? "\"\""
        return Data(
            """
            {"type":"\(due.type)","timestamp":\(due.at.rawValue),"seq":\(due.position.seq),"sequence":\(due.sequence),\
            "subject":\(subject),"data":\(due.data)}
            """.utf8)
    }

    private func attempt(_ delivery: PreparedDelivery) async -> WebhookReply {
        switch opened {
        case .failure(let refusal): return .failed(refusal.fault)
        case .success(let session):
            let (id, now) = (delivery.event.rawValue, deliveries.time.real.now.rawValue)
            let signatures = secrets.map { $0.signature(id: id, timestamp: now, body: delivery.body) }
            var headers = [
                (name: "content-type", value: "application/json"), (name: "webhook-id", value: id),
                (name: "webhook-timestamp", value: String(now)),
                (name: "webhook-signature", value: signatures.joined(separator: " ")),
            ]
            if let trace = delivery.trace {
                headers.append((name: "traceparent", value: trace.traceparent(deliveries.random)))
            }
            return await session.post(
                WebhookMessage(
                    headers: headers, body: delivery.body,
                    limit: deliveries.time.isMoving ? Self.limitInMove : nil))
        }
    }

    private func result(_ delivery: PreparedDelivery, _ reply: WebhookReply) -> DeliveryResult {
        let attempts = delivery.attempts + 1
        var (status, fault, pause, body) = (Int64?.none, Delivery.Fault?.none, Int64?.none, String?.none)
        switch reply {
        case .failed(let why): fault = why
        case .replied(let code, let retryAfter, let text):
            body = text
            status = Int64(code)
            if !(200...299).contains(code) { fault = .status }
            if let retryAfter, DeliverySchedule.heedsPause(code) {
                pause = RetryAfter.seconds(retryAfter, now: deliveries.time.real.now)
            }
        }
        let attempt = DeliveryAttempt(at: deliveries.time.now, status: status, error: fault?.rawValue, body: body)
        return DeliveryResult(
            delivery: delivery.id, attempts: attempts, status: status, fault: fault,
            delay: fault == nil ? nil : DeliverySchedule.delay(after: attempts, pause: pause),
            history: (try? attempt.storedJSON()) ?? "null")
    }

    /// Stores results, makes the jobs of their next attempts, and disables an endpoint that is gone or has long been
    /// failing.
    ///
    /// Answers of an address that the endpoint no longer has do not count for the new one.
    /// - Returns: true where the endpoint was disabled.
    private func write(_ results: [DeliveryResult]) async throws(GatewayError) -> Bool {
        let (webhook, url, retry) = (record.id, record.url, deliveries.settlements.ids.make(Job.self))
        let soonest = results.compactMap(\.delay).min()
        // A withheld delivery says nothing about the endpoint.
        let attempted = results.filter { $0.fault != .forbidden }
        let stops = try await deliveries.settlements.run(job.audit) { settlement in
            let (tx, now) = (settlement.tx, settlement.now)
            guard let record = try tx.webhooks.lock(webhook), record.status == .enabled else { return true }
            let isMeant = record.url == url
            let isFailing =
                try isMeant && !attempted.isEmpty
                && tx.webhooks.recordHealth(
                    of: webhook, succeeded: attempted.contains { $0.fault == nil },
                    failingLimit: DeliverySchedule.failingLimit, longestGap: Self.longestGap, at: now)
            try tx.deliveries.record(results, at: now)
            if isMeant && results.contains(where: { $0.status == 410 }) {
                try WebhookWriter(settlement).disable(webhook, .gone)
                return true
            }
            if isFailing {
                try WebhookWriter(settlement).disable(webhook, .failing)
                return true
            }
            if let soonest {
                try tx.jobs.enqueue(
                    retry, kind: JobKind.retryDeliveries.rawValue, subject: webhook.rawValue, delay: soonest, at: now)
            }
            return false
        }
        if !stops && soonest != nil { deliveries.settlements.signals.deliveries.notify() }
        return stops
    }
}
