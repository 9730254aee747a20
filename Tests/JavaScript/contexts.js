// Prints every state of the fixtures as JSON: the facts (what the API answers) and the context that the templates get
// for them, without the table of texts. Whoever renders the templates elsewhere compares with it.
//
// usage: node Tests/JavaScript/contexts.js > contexts.json
import { bare, contextOf, factsOf, states } from "./fixtures.js";

const all = ["en", "zh-Hans"].flatMap(lang => [...Object.keys(states), ...bare].map(name => {
  const { session, state, reason, products, methods, alert, place, now } = factsOf(name, lang);
  const { t: _, ...context } = contextOf(name, lang);
  return { name, lang, facts: { session, state, reason, products, methods, alert, now, zone: place.zone }, context };
}));

process.stdout.write(JSON.stringify(all, null, 1) + "\n");
