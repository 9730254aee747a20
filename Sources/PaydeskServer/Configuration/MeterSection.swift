import Domain
import Foundation

/// Reads `meters` of `paydesk.yaml`.
enum MeterSection {
    static func read(_ root: MappingReader) -> [Meter] {
        var meters: [Meter] = []
        for element in root.elements("meters") {
            guard let meter = meter(element.mapping(keys: ["id", "period", "timezone", "limits"])) else { continue }
            if meters.contains(where: { $0.id == meter.id }) {
                element.fault("has the id \(meter.id) of another meter", "give each its own id")
            }
            meters.append(meter)
        }
        return meters
    }

    private static func meter(_ fields: MappingReader) -> Meter? {
        let before = fields.reading.faults.count
        let id = fields.requiredText("id", "write a name such as messages") ?? ""
        if !id.isEmpty, SKUCode(id) == nil {
            fields.fault("id", "is not a name", "use small letters, digits and _.- only")
        }
        if fields["period"] == nil { fields.fault("period", "is missing", "write day or month") }
        let period = fields.choice("period", default: Meter.Period.day)
        let zone = fields.requiredText("timezone", "write an IANA name such as Asia/Shanghai or UTC") ?? ""
        if !zone.isEmpty, TimeZone(identifier: zone) == nil {
            fields.fault("timezone", "is not a known time zone", "write an IANA name such as Asia/Shanghai or UTC")
        }
        let limits = limits(fields)
        if limits[""] == nil {
            fields.fault(
                "limits", "has no limit for \"\", users without a tier", "add one: {\"\": 10}, null for unlimited")
        }
        guard fields.reading.faults.count == before else { return nil }
        return Meter(id: id, period: period, timeZone: zone, limits: limits)
    }

    private static func limits(_ fields: MappingReader) -> [String: Int64?] {
        guard let value = fields["limits"] else { return [:] }
        var limits: [String: Int64?] = [:]
        for member in value.members() {
            let place = value.place.member(member.key, line: member.value.line)
            let limit = ValueReader(node: member.value, place: place, reading: fields.reading)
            limits.updateValue(limit.optionalInteger(in: 0...(.max)), forKey: member.key)
        }
        return limits
    }
}
