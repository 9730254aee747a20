import CLibpq
import FoundationEssentials

/// Turns the portable `?` of a statement into `$1`, `$2`, …; quoted texts, names and comments stay as they are.
enum PostgresPlaceholders {
    static func numbered(_ sql: String) -> String {
        var output: [UInt8] = []
        var number = 0
        var scanner = Array(sql.utf8)[...]
        while let byte = scanner.popFirst() {
            output.append(byte)
            switch byte {
            case UInt8(ascii: "?"):
                number += 1
                output[output.count - 1] = UInt8(ascii: "$")
                output += Array("\(number)".utf8)
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                // A doubled quote ends one quoted part and starts the next, with the same effect.
                copy(&scanner, to: &output, through: [byte])
            case UInt8(ascii: "-") where scanner.first == UInt8(ascii: "-"):
                copy(&scanner, to: &output, through: [UInt8(ascii: "\n")])
            case UInt8(ascii: "/") where scanner.first == UInt8(ascii: "*"):
                copy(&scanner, to: &output, through: [UInt8(ascii: "*"), UInt8(ascii: "/")])
            default:
                continue
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func copy(_ scanner: inout ArraySlice<UInt8>, to output: inout [UInt8], through end: [UInt8]) {
        while !scanner.isEmpty {
            if scanner.starts(with: end) {
                output += end
                scanner.removeFirst(end.count)
                return
            }
            output.append(scanner.removeFirst())
        }
    }
}

/// Bound values in the form that libpq sends: numbers and texts as text, blobs as bytes.
struct PostgresArguments {
    /// The types of the values; 0 leaves the choice to the server, which is right only for NULL.
    private(set) var types: [Oid] = []
    private var bytes: [UInt8] = []
    private var starts: [Int?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    static let none = PostgresArguments()

    private init() {}

    init(_ values: [any SQLBindable]) throws(StoreError) {
        for value in values {
            switch value.sql {
            case .null:
                append(0, [UInt8]?.none, format: 0)
            case .integer(let value):
                append(PostgresType.int8.rawValue, String(value).utf8, format: 0)
            case .text(let value):
                append(PostgresType.text.rawValue, try value.bindable().utf8, format: 0)
            case .blob(let value):
                append(PostgresType.bytea.rawValue, value, format: 1)
            }
        }
    }

    private mutating func append(_ type: Oid, _ value: (some Collection<UInt8>)?, format: Int32) {
        types.append(type)
        starts.append(value == nil ? nil : bytes.count)
        lengths.append(Int32(clamping: value?.count ?? 0))
        formats.append(format)
        if let value { bytes += value }
        bytes.append(0)
    }

    /// Calls `body` with count, values, lengths and formats, which are valid only inside it.
    func withPointers<T>(
        _ body: (Int32, [UnsafePointer<CChar>?], [Int32], [Int32]) -> T
    ) -> T {
        bytes.withUnsafeBytes { buffer in
            let base = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            let values = starts.map { start -> UnsafePointer<CChar>? in
                guard let base, let start else { return nil }
                return base + start
            }
            return body(Int32(clamping: values.count), values, lengths, formats)
        }
    }
}

/// The prepared statements of one connection; the least recently used one leaves first.
struct PostgresStatementCache {
    struct Key: Hashable {
        let sql: String
        /// The types of the parameters: the server prepares the same text with NULL in another position as another
        /// statement.
        let types: [Oid]
    }

    private struct Entry {
        let name: String
        var lastUse: UInt64
    }

    private let limit: Int
    private var entries: [Key: Entry] = [:]
    private var uses: UInt64 = 0
    private var names: UInt64 = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func name(_ key: Key) -> String? {
        uses += 1
        guard let index = entries.index(forKey: key) else { return nil }
        entries.values[index].lastUse = uses
        return entries.values[index].name
    }

    mutating func nextName() -> String {
        names += 1
        return "s\(names)"
    }

    /// Removes the least recently used statement when the cache is full and returns its name.
    mutating func evict() -> String? {
        guard entries.count >= limit, let oldest = entries.min(by: { $0.value.lastUse < $1.value.lastUse }) else {
            return nil
        }
        entries[oldest.key] = nil
        return oldest.value.name
    }

    mutating func insert(_ key: Key, name: String) {
        entries[key] = Entry(name: name, lastUse: uses)
    }

    /// Removes a statement, unless it has been prepared under another name since.
    mutating func remove(_ key: Key, name: String) {
        if entries[key]?.name == name { entries[key] = nil }
    }

    mutating func removeAll() { entries = [:] }
}
