package import Domain

/// The request that a task works for: its log lines name it, and calls to other services carry its trace.
package struct RequestTrace: Sendable {
    /// nil outside of requests and jobs.
    @TaskLocal package static var current: RequestTrace?

    package let requestID: String
    /// nil where the caller sent no valid `traceparent`.
    package let trace: TraceContext?

    package init(requestID: String, trace: TraceContext? = nil) {
        self.requestID = requestID
        self.trace = trace
    }
}
