import Domain
import Foundation
import Gateway
import Logging
import Synchronization
import Testing

@testable import PaydeskServer

@Suite("Log lines")
struct LogFormatTests {
    /// The lines of a logger.
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        var texts: [String] { all.withLock { $0 } }

        func logger(_ provider: Logger.MetadataProvider? = nil) -> Logger {
            Logger(label: "test") { _ in
                JSONLogHandler(metadataProvider: provider, time: TimeSource { 1_736_860_000_007 }) { bytes in
                    self.all.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
                }
            }
        }
    }

    private static func object(_ line: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        return try #require(object as? [String: Any])
    }

    @Test func `a line is an object with the fields of every line and its own`() throws {
        let lines = Lines()
        var logger = lines.logger(Logger.MetadataProvider { ["request_id": "req_1", "trace_id": "0af7"] })
        logger[metadataKey: "account"] = "box"
        logger.info(
            "said \"so\"",
            metadata: [
                "status": .stringConvertible(404), "duration_ms": .stringConvertible(1.25), "time": "not the time",
                "parts": ["a", ["b": "c"]], "ready": .stringConvertible(true),
            ])
        #expect(
            lines.texts == [
                #"{"time":"2025-01-14T13:06:40.007Z","level":"info","message":"said \"so\"","request_id":"req_1","#
                    + #""trace_id":"0af7","account":"box","duration_ms":1.25,"parts":["a",{"b":"c"}],"ready":true,"#
                    + "\"status\":404}\n"
            ])
    }

    @Test(arguments: ["line\nbreak", "\u{1B}[31mred", "tab\t", "\\", "é 微信 😀", "\u{0}\u{7F}\u{9B}\u{2028}\u{202E}"])
    func `any text is one line, without a character that a terminal obeys`(_ text: String) throws {
        let lines = Lines()
        lines.logger().warning("\(text)", metadata: ["\(text)": "\(text)"])
        let line = try #require(lines.texts.first)
        let object = try Self.object(line)
        #expect(object["message"] as? String == text && object[text] as? String == text)
        #expect(object["request_id"] is NSNull && object["trace_id"] is NSNull)
        let controls = line.unicodeScalars.dropLast().filter { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
        #expect(controls.isEmpty && line.hasSuffix("}\n"))
    }

    @Test func `lines of one cause are counted and not repeated, and those below notice are all there`() throws {
        let lines = Lines()
        let clock = Mutex<Int64>(0)
        let repeated = RepeatedLines(time: TimeSource { clock.withLock { $0 } })
        var logger = Logger(label: "test") { _ in
            CountedLogHandler(
                JSONLogHandler(metadataProvider: nil, time: TimeSource { 0 }) { bytes in
                    lines.all.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
                }, lines: repeated)
        }
        logger.logLevel = .debug
        for number in 0..<50 {
            logger.warning("no answer", metadata: ["account": "a", "payment": "pay_\(number)"])
            logger.debug("request")
        }
        logger.warning("no answer", metadata: ["account": "b"])
        let written = try lines.texts.map(Self.object)
        #expect(written.count { $0["account"] as? String == "a" } == 20)
        #expect(written.count { $0["account"] as? String == "b" } == 1)
        #expect(written.count { $0["level"] as? String == "debug" } == 50)
        clock.withLock { $0 = 60_000 }
        logger.warning("no answer", metadata: ["account": "a"])
        #expect(try Self.object(try #require(lines.texts.last))["left_out"] as? String == "30")
    }

    @Test(arguments: ["xml", "JSON", ""])
    func `another format is none`(_ name: String) { #expect(LogFormat(rawValue: name) == nil) }
}
