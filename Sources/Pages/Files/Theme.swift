import Foundation

/// The merchant's colour as a style sheet.
enum Theme {
    /// - Parameter accent: `#` and six hexadecimal digits.
    static func css(_ accent: String) -> String {
        ":root { --accent: \(accent); --accent-text: \(textColour(on: accent)); }\n"
    }

    /// Returns white where it can be read on the colour (4.5:1, WCAG 2.2 section 1.4.3), else black.
    private static func textColour(on accent: String) -> String {
        1.05 / (luminance(accent) + 0.05) >= 4.5 ? "#ffffff" : "#000000"
    }

    private static func luminance(_ colour: String) -> Double {
        let number = UInt32(colour.dropFirst(), radix: 16) ?? 0
        let parts = [16, 8, 0].map { shift -> Double in
            let part = Double((number >> UInt32(shift)) & 0xFF) / 255
            return part <= 0.04045 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
        }
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
    }
}
