// A document as far as the views use one, and a reader of HTML into the same nodes, so that both can be compared.

const VOID = new Set(["input", "img", "meta", "link", "br"]);

class FakeNode {
  constructor(document) {
    this.ownerDocument = document;
    this.parentNode = null;
    this.childNodes = [];
  }
  remove() {
    if (!this.parentNode) return;
    this.parentNode.childNodes = this.parentNode.childNodes.filter(child => child !== this);
    this.parentNode = null;
  }
  insert(at, nodes) {
    const made = nodes.map(node => (typeof node === "string" ? new FakeText(this.ownerDocument, node) : node));
    for (const node of made) node.remove();
    const index = typeof at === "function" ? at() : at;
    this.childNodes.splice(index, 0, ...made);
    for (const node of made) node.parentNode = this;
  }
  append(...nodes) {
    this.insert(() => this.childNodes.length, nodes);
  }
  before(...nodes) {
    this.parentNode?.insert(() => this.parentNode.childNodes.indexOf(this), nodes);
  }
  after(...nodes) {
    this.parentNode?.insert(() => this.parentNode.childNodes.indexOf(this) + 1, nodes);
  }
  replaceChildren(...nodes) {
    for (const child of this.childNodes.slice()) child.remove();
    this.append(...nodes);
  }
  get textContent() {
    return this.childNodes.map(child => child.textContent).join("");
  }
  set textContent(text) {
    this.replaceChildren(...(text === "" ? [] : [text]));
  }
}

class FakeText extends FakeNode {
  constructor(document, text) {
    super(document);
    this.text = text;
  }
  get textContent() {
    return this.text;
  }
}

export class FakeElement extends FakeNode {
  constructor(document, tag) {
    super(document);
    this.localName = tag;
    this.attributes = new Map();
    this.listeners = new Map();
    this.dataset = new Proxy({}, {
      get: (_, name) => (typeof name === "string" ? this.attributes.get(data(name)) : undefined),
      set: (_, name, value) => this.attributes.set(data(name), String(value)) !== null,
      has: (_, name) => this.attributes.has(data(name)),
    });
  }
  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }
  removeAttribute(name) {
    this.attributes.delete(name);
  }
  get hidden() {
    return this.attributes.has("hidden");
  }
  set hidden(on) {
    if (on) this.attributes.set("hidden", "");
    else this.attributes.delete("hidden");
  }
  get disabled() {
    return this.attributes.has("disabled");
  }
  set disabled(on) {
    if (on) this.attributes.set("disabled", "");
    else this.attributes.delete("disabled");
  }
  get name() {
    return this.getAttribute("name");
  }
  get value() {
    return this.getAttribute("value");
  }
  focus() {
    this.ownerDocument.activeElement = this;
  }
  addEventListener(name, listener, options = {}) {
    this.listeners.set(name, [...(this.listeners.get(name) ?? []), listener]);
    options?.signal?.addEventListener("abort", () => this.listeners.set(name, this.listeners.get(name).filter(each => each !== listener)));
  }
  async dispatch(name, event) {
    for (const listener of this.listeners.get(name) ?? []) await listener({ defaultPrevented: false, preventDefault() { this.defaultPrevented = true; }, button: 0, ...event });
  }
  *[Symbol.iterator]() {
    for (const child of this.childNodes) {
      if (!(child instanceof FakeElement)) continue;
      yield child;
      yield* child;
    }
  }
  querySelectorAll(selector) {
    return Array.from(this).filter(element => element.matches(selector));
  }
  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
  closest(selector) {
    for (let element = this; element instanceof FakeElement; element = element.parentNode) if (element.matches(selector)) return element;
    return null;
  }
  matches(selector) {
    return selector.split(",").some(one => {
      const found = /^\s*([a-z0-9]*)((?:\[[^\]]+\])*)\s*$/.exec(one);
      if (!found) throw new Error(`the fake document does not know ${selector}`);
      if (found[1] && found[1] !== this.localName) return false;
      return Array.from(found[2].matchAll(/\[([a-z-]+)(?:="([^"]*)")?\]/g)).every(([, name, value]) => this.attributes.has(name) && (value === undefined || this.attributes.get(name) === value));
    });
  }
}

const data = name => "data-" + name.replace(/[A-Z]/g, letter => "-" + letter.toLowerCase());

export class FakeDocument {
  constructor() {
    this.activeElement = null;
    this.visibilityState = "visible";
  }
  createElement(tag) {
    return new FakeElement(this, tag);
  }
  createElementNS(_, tag) {
    return new FakeElement(this, tag);
  }
}

/** Nodes as text that two trees can be compared by: one line an element, spaces between words as one. */
export function outline(nodes, depth = 0) {
  const lines = [];
  let text = "";
  const flush = () => {
    if (text.trim() !== "") lines.push("  ".repeat(depth) + JSON.stringify(text.replace(/\s+/g, " ").trim()));
    text = "";
  };
  for (const node of nodes) {
    if (!(node instanceof FakeElement)) {
      text += node.textContent;
      continue;
    }
    flush();
    const attributes = Array.from(node.attributes).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => ` ${name}=${JSON.stringify(value.replace(/\s+/g, " ").trim())}`);
    lines.push("  ".repeat(depth) + node.localName + attributes.join(""), ...outline(node.childNodes, depth + 1));
  }
  flush();
  return lines;
}

/** Reads HTML as the templates write it: quoted or bare attributes, no omitted end tags. */
export function read(html, document = new FakeDocument()) {
  const root = new FakeElement(document, "root");
  let here = root;
  for (const [, text, comment, end, tag, attributes] of html.matchAll(/([^<]+)|(<!(?:--[\s\S]*?--|[^>]*)>)|<\/([a-z0-9]+)>|<([a-z0-9]+)((?:[^>"]|"[^"]*")*)>/gi)) {
    if (comment !== undefined) continue;
    if (text !== undefined) here.append(unescape(text));
    else if (end !== undefined) {
      if (here.localName !== end) throw new Error(`</${end}> ends <${here.localName}>`);
      here = here.parentNode;
    } else {
      const element = document.createElement(tag);
      for (const [, name, value] of attributes.matchAll(/([a-zA-Z-]+)(?:="([^"]*)")?/g)) {
        if (element.attributes.has(name)) throw new Error(`<${tag}> has ${name} twice`);
        element.setAttribute(name, unescape(value ?? ""));
      }
      here.append(element);
      if (!VOID.has(tag) && !attributes.endsWith("/")) here = element;
    }
  }
  if (here !== root) throw new Error(`<${here.localName}> is not ended`);
  return root;
}

const unescape = text => text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => ({ amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" })[name]);
