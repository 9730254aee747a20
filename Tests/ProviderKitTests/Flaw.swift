/// A deliberate fault of a fake provider.
enum Flaw: String, Sendable, CaseIterable {
    case acceptsForgedSignature, acceptsMissingSignature, acceptsAnothersSignature, signsOnlyTheTime
    case ignoresOldTimestamp, ignoresFutureTimestamp
    case unknownStatusIsSuccess, forgetsAmounts, assumesCurrency, randomEventID, oneEventID, statefulReceive,
        rejectsWithForgery
    case twoUpstreamPayments, everyOpeningDiffers, wrongContractType, unpaidIsPaid, amountOffByOne
    case cancelDoesNothing, cancelHidesSuccess, refundRepeats, refundsTooMuch, refundsWithoutMoney, countsFromTheID
    case lostReplyIsUnavailable, lostReplyIsRejected, unavailableIsSuccess, slowDiffers
    case leaksSecretInError, leaksSecretInDescription

    // Flaws that the second version of the kit finds.
    case adoptsStrangers, ignoresAccounts, believesReferences
    case refusesUnknownFields, refusesUnknownWords, unknownStatusIsEnd
    case disputeHidesRefunds, refundedIsCancelled
    case garbageIsWaiting, garbageIsRefusal, garbageIsUnavailable
    case serverErrorIsRefusal, serverErrorIsUnavailable, impossibleNumberIsRefusal
    case asksForEver, waitsForEver, readsForEver, tooLargeIsRefusal, timeoutIsRefusal
    case opensBeforeItNotes, cancelsByHalves, refundsBeforeItNotes
}
