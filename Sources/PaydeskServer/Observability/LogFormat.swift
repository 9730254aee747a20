import Domain
import Gateway
import Logging

/// The forms of log lines, `--log-format`.
enum LogFormat: String, CaseIterable {
    case text, json

    /// Sends the lines of every logger to standard error in this form, those of one cause counted and not repeated.
    ///
    /// Each line names the request or the job that it is about, and the caller's trace.
    func bootstrap() {
        let lines = RepeatedLines(time: SystemDependencies.time)
        let request = Logger.MetadataProvider {
            guard let request = RequestTrace.current else { return [:] }
            var metadata: Logger.Metadata = ["request_id": "\(request.requestID)"]
            if let trace = request.trace { metadata["trace_id"] = "\(trace.id)" }
            return metadata
        }
        LoggingSystem.bootstrap(
            { [self] label, provider in
                switch self {
                case .text:
                    return CountedLogHandler(
                        StreamLogHandler.standardError(label: label, metadataProvider: provider), lines: lines)
                case .json:
                    return CountedLogHandler(
                        JSONLogHandler(
                            metadataProvider: provider, time: SystemDependencies.time, write: StandardError.write),
                        lines: lines)
                }
            }, metadataProvider: request)
    }
}
