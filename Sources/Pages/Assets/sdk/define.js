// @ts-check

/** Defines `<paydesk-checkout>` where there are elements; what it draws is loaded with the first one. */
export function defineElement() {
  if (typeof globalThis.customElements === "undefined" || customElements.get("paydesk-checkout")) return;
  customElements.define("paydesk-checkout", class PaydeskCheckout extends HTMLElement {
    static get observedAttributes() {
      return ["token", "base-url", "locale"];
    }
    constructor() {
      super();
      /** @type {import("./client.js").Paydesk | null} */
      this.givenDesk = null;
      /** @type {{stop(): void} | null} */
      this.running = null;
      this.turn = 0;
      this.attachShadow({ mode: "open" });
    }
    get desk() {
      return this.givenDesk;
    }
    set desk(desk) {
      this.givenDesk = desk;
      this.restart();
    }
    connectedCallback() {
      this.restart();
    }
    disconnectedCallback() {
      this.turn += 1;
      this.running?.stop();
      this.running = null;
    }
    attributeChangedCallback() {
      if (this.isConnected) this.restart();
    }
    /** Begins anew once for all changes of one task. */
    restart() {
      const turn = ++this.turn;
      queueMicrotask(async () => {
        if (turn !== this.turn || !this.isConnected) return;
        this.running?.stop();
        this.running = null;
        const { runElement } = await import("./element.js");
        if (turn === this.turn && this.isConnected) this.running = runElement(this);
      });
    }
  });
}
