import CLibpq
import Domain
import FoundationEssentials

/// A result of libpq, freed with this object.
final class PostgresResult {
    private let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit { PQclear(pointer) }

    var isSuccess: Bool {
        let status = PQresultStatus(pointer)
        return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK || status == PGRES_EMPTY_QUERY
    }

    /// True when the statement did not run because an earlier one in its pipeline failed.
    var isSkipped: Bool { PQresultStatus(pointer) == PGRES_PIPELINE_ABORTED }

    /// True for the mark at the end of a pipeline, which is not the result of a statement.
    var endsPipeline: Bool { PQresultStatus(pointer) == PGRES_PIPELINE_SYNC }

    /// The command tag, such as "COMMIT" or "UPDATE 3".
    var command: String { String(cString: PQcmdStatus(pointer)) }

    /// The number of rows that an INSERT, UPDATE, DELETE or SELECT touched; 0 for other statements.
    var touched: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    func field(_ field: ErrorField) -> String? {
        PQresultErrorField(pointer, field.rawValue).map { String(cString: $0) }
    }

    /// The fields of an error, by their codes in postgres_ext.h (character macros, which Swift does not import).
    enum ErrorField: Int32 {
        case state = 0x43  // C
        case message = 0x4D  // M
        case sourceFunction = 0x52  // R
    }

    func rows() throws(StoreError) -> [Row] {
        let count = PQnfields(pointer)
        let columns = ResultColumns((0..<count).map { String(cString: PQfname(pointer, $0)) })
        let types = (0..<count).map { PQftype(pointer, $0) }
        var rows: [Row] = []
        rows.reserveCapacity(Int(PQntuples(pointer)))
        for row in 0..<PQntuples(pointer) {
            var values: [SQLValue] = []
            values.reserveCapacity(Int(count))
            for column in 0..<count { values.append(try value(row, column, types[Int(column)])) }
            rows.append(Row(columns: columns, values: values))
        }
        return rows
    }

    private func value(_ row: Int32, _ column: Int32, _ type: Oid) throws(StoreError) -> SQLValue {
        guard PQgetisnull(pointer, row, column) == 0, let start = PQgetvalue(pointer, row, column) else { return .null }
        let length = Int(PQgetlength(pointer, row, column))
        let bytes = UnsafeRawBufferPointer(start: start, count: length)
        switch PostgresType(rawValue: type) {
        case .bool:
            return .integer(bytes.first == UInt8(ascii: "t") ? 1 : 0)
        case .int2, .int4, .int8, .oid, .numeric:
            let text = String(decoding: bytes, as: UTF8.self)
            // A sum of bigint is numeric; one with a fraction or beyond 64 bits stays text.
            return Int64(text).map(SQLValue.integer) ?? .text(text)
        case .bytea:
            guard let data = Self.data(hex: bytes) else { throw .corrupt("a bytea is not in the hex format") }
            return .blob(data)
        case .text, nil:
            return .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// Decodes `\x0a1b`, the format that `bytea_output = hex` asks for.
    private static func data(hex bytes: UnsafeRawBufferPointer) -> Data? {
        guard bytes.count % 2 == 0, bytes.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "x")]) else { return nil }
        var data = Data(capacity: bytes.count / 2)
        var index = 2
        while index < bytes.count {
            guard let high = Hex.value(bytes[index], .lower), let low = Hex.value(bytes[index + 1], .lower) else {
                return nil
            }
            data.append(high << 4 | low)
            index += 2
        }
        return data
    }
}

/// The types that this engine knows by their fixed object ids (PostgreSQL's pg_type.dat).
enum PostgresType: Oid {
    case bool = 16
    case bytea = 17
    case int8 = 20
    case int2 = 21
    case int4 = 23
    case text = 25
    case oid = 26
    case numeric = 1700
}
