// Mustache as far as the templates use it: values, sections, inverted sections, partials, comments. Tests only; the
// server renders with swift-mustache.

const HTML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** The HTML of a template with a context. */
export function render(name, context, templates) {
  return piece(parse(templates[name]), [context], templates);
}

/** A tree of texts (strings) and tags ({kind, name, children}). */
export function parse(source) {
  const root = { children: [] };
  const open = [root];
  let at = 0;
  for (const match of source.matchAll(/\{\{([!#^/>]?)\s*([\s\S]*?)\s*\}\}/g)) {
    open.at(-1).children.push(source.slice(at, match.index));
    at = match.index + match[0].length;
    const [, kind, name] = match;
    if (kind === "!") continue;
    if (kind === "/") {
      if (open.pop().name !== name) throw new Error(`{{/${name}}} closes nothing`);
      continue;
    }
    const tag = { kind, name, children: [] };
    open.at(-1).children.push(tag);
    if (kind === "#" || kind === "^") open.push(tag);
  }
  if (open.length !== 1) throw new Error(`{{#${open.at(-1).name}}} is not closed`);
  root.children.push(source.slice(at));
  return root.children;
}

function piece(nodes, stack, templates) {
  return nodes.map(node => {
    if (typeof node === "string") return node;
    if (node.kind === ">") {
      if (!(node.name in templates)) throw new Error(`no template ${node.name}`);
      return piece(parse(templates[node.name]), stack, templates);
    }
    const value = find(node.name, stack);
    const empty = value === null || value === undefined || value === false || (Array.isArray(value) && value.length === 0);
    if (node.kind === "^") return empty ? piece(node.children, stack, templates) : "";
    if (node.kind !== "#") return empty ? "" : String(value).replace(/[&<>"']/g, letter => HTML[letter]);
    if (empty) return "";
    return (Array.isArray(value) ? value : [value]).map(each => piece(node.children, each === true ? stack : [...stack, each], templates)).join("");
  }).join("");
}

function find(name, stack) {
  if (name === ".") return stack.at(-1);
  const [first, ...rest] = name.split(".");
  for (const scope of stack.slice().reverse()) {
    if (scope !== null && typeof scope === "object" && first in scope) return rest.reduce((value, part) => value?.[part], scope[first]);
  }
  return undefined;
}
