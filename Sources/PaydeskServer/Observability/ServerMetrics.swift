import Domain
import Gateway
import Store

extension PrometheusMetrics {
    /// Shows what a store counts itself.
    func observe(_ store: Store) {
        observe(counter: "paydesk_store_commits_total") { store.engine.commits }
        observe(gauge: "paydesk_database_pool_in_use") { Int64(store.engine.connectionsInUse) }
        let latencies = store.latencies
        for (operation, histogram) in [
            ("read", latencies.read), ("write", latencies.write), ("report", latencies.report),
        ] {
            observe(histogram: "paydesk_database_call_seconds", "operation", operation, histogram)
        }
    }

    /// Shows what a gateway and the census of its queues keep.
    func observe(_ gateway: Gateway, _ queues: QueueCensus) {
        let (load, renewals, live) = (gateway.load, gateway.renewalMeter, gateway.live)
        observe(gauge: "paydesk_account_health", by: "account") {
            Dictionary(uniqueKeysWithValues: load.health.map { ($0.rawValue, $1 == .closed ? 1 : 0) })
        }
        observe(gauge: "paydesk_renewals_overdue") { renewals.overdue }
        observe(gauge: "paydesk_billing_hold") { renewals.isHeld ? 1 : 0 }
        observe(gauge: "paydesk_streams") { Int64(live.count) }
        observe(gauge: "paydesk_jobs_due") { queues.figures.jobsDue }
        observe(gauge: "paydesk_oldest_due_job_seconds") { queues.figures.oldestSeconds }
        observe(gauge: "paydesk_webhook_backlog") { queues.figures.deliveries }
    }
}
