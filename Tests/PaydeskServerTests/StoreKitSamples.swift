/// StoreKit configuration files in the form in which Xcode saves them.
enum StoreKitSamples {
    /// A file with a product of each kind, two levels in a group, offers, a policy, a date with a fraction and a key.
    static let whole = """
        {
          "appPolicies" : {
            "eula" : "",
            "policies" : [
              { "locale" : "en_US", "policyText" : "", "policyURL" : "" }
            ]
          },
          "identifier" : "5C0B1D9A",
          "nonRenewingSubscriptions" : [
            {
              "displayPrice" : "12",
              "familyShareable" : false,
              "internalID" : "77A0C3E1",
              "localizations" : [
                { "description" : "A season of sailing", "displayName" : "Season pass", "locale" : "en_US" }
              ],
              "productID" : "harbour.season",
              "referenceName" : "season",
              "type" : "NonRenewingSubscription"
            }
          ],
          "products" : [
            {
              "displayPrice" : "0.99",
              "familyShareable" : false,
              "internalID" : "1F00AA42",
              "localizations" : [
                { "description" : "", "displayName" : "Hundert M\\u00fcnzen \\ud83e\\ude99", "locale" : "de" },
                { "description" : "To spend", "displayName" : "100 coins", "locale" : "en_US" },
                { "description" : "To spend, dear", "displayName" : "100 coins", "locale" : "en_GB" }
              ],
              "productID" : "harbour.coins.100",
              "referenceName" : "coins-100",
              "type" : "Consumable"
            },
            {
              "displayPrice" : "49.9",
              "familyShareable" : true,
              "internalID" : "9E4410B7",
              "localizations" : [

              ],
              "productID" : "Harbour.Boat",
              "referenceName" : "The boat",
              "type" : "NonConsumable"
            }
          ],
          "settings" : {
            "_applicationInternalID" : "6744000000",
            "_developerTeamID" : "ABCDE12345",
            "_failTransactionsEnabled" : false,
            "_lastSynchronizedDate" : 767105909.83790004,
            "_locale" : "en_US",
            "_storefront" : "USA",
            "_storeKitErrors" : [
              { "current" : null, "enabled" : false, "name" : "Load Products" }
            ]
          },
          "subscriptionGroups" : [
            {
              "id" : "8126C4BB",
              "localizations" : [

              ],
              "name" : "Club",
              "subscriptions" : [
                {
                  "adHocOffers" : [
                    {
                      "displayPrice" : "0.99", "internalID" : "F148DF28", "offerID" : "999",
                      "paymentMode" : "payUpFront", "referenceName" : "Winter", "subscriptionPeriod" : "P3M"
                    }
                  ],
                  "codeOffers" : [

                  ],
                  "displayPrice" : "4.99",
                  "familyShareable" : false,
                  "groupNumber" : 1,
                  "internalID" : "AF41C8C8",
                  "introductoryOffer" : {
                    "internalID" : "840B334F", "numberOfPeriods" : 1, "paymentMode" : "free",
                    "subscriptionPeriod" : "P1W"
                  },
                  "localizations" : [
                    { "description" : "Every month", "displayName" : "Club", "locale" : "en_US" }
                  ],
                  "productID" : "harbour.club.monthly",
                  "recurringSubscriptionPeriod" : "P1M",
                  "referenceName" : "Club, monthly",
                  "subscriptionGroupID" : "8126C4BB",
                  "type" : "RecurringSubscription",
                  "winbackOffers" : [

                  ]
                },
                {
                  "adHocOffers" : [],
                  "codeOffers" : [],
                  "displayPrice" : "39.00",
                  "familyShareable" : false,
                  "groupNumber" : 2,
                  "internalID" : "B8897679",
                  "introductoryOffer" : null,
                  "localizations" : [],
                  "productID" : "harbour.club.yearly",
                  "recurringSubscriptionPeriod" : "P1Y",
                  "referenceName" : "Club, yearly",
                  "subscriptionGroupID" : "8126C4BB",
                  "type" : "RecurringSubscription"
                }
              ]
            }
          ],
          "subscriptionOffersKeyPair" : { "id" : "5509FCF1", "privateKey" : "left out" },
          "version" : { "major" : 4, "minor" : 0 }
        }
        """

    /// A file that was shortened by hand to its products.
    static let short = """
        {
          "products": [
            {
              "displayPrice": "0.99",
              "familyShareable": false,
              "internalID": "...",
              "localizations": [{"description": "短距离双向通讯设备", "displayName": "对讲机", "locale": "zh_CN"}],
              "productID": "com.tuzi.device.walkietalkie",
              "referenceName": "对讲机",
              "type": "NonConsumable"
            }
          ]
        }
        """

    static func products(_ members: String...) -> String { "{\"products\": [\(members.joined(separator: ", "))]}" }

    static func group(_ members: String) -> String { "{\"subscriptionGroups\": [{\"subscriptions\": [\(members)]}]}" }

    static func ring(_ changes: [String: String?] = [:]) -> String {
        let fields = [
            "productID": "\"ring\"", "type": "\"NonConsumable\"", "displayPrice": "\"1.99\"",
            "referenceName": "\"Ring\"",
        ].merging(changes) { $1 }
        return "{\(fields.compactMap { key, value in value.map { "\"\(key)\": \($0)" } }.joined(separator: ", "))}"
    }
}
