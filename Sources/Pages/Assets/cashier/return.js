// @ts-check

/** How long the receipt is shown before the payer goes back, in milliseconds. */
const PAUSE = 3000;
const TOUCHES = ["pointerdown", "keydown", "wheel", "touchstart"];

/** The way back that a paid page takes by itself: once, only when it is seen, and not when it was touched. */
export class Return {
  /** @param {HTMLElement} main */
  constructor(main) {
    this.main = main;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    // An entry of the history that was left before stays: the payer came back to look.
    this.over = history.state?.paydeskReturned === true;
    this.touched = () => this.stay();
    this.seen = () => {
      if (document.visibilityState === "visible" && this.main.dataset.state === "paid") this.begin();
      else clearTimeout(this.timer);
    };
  }

  /** @param {string} state */
  watch(state) {
    if (state !== "paid") return this.end();
    if (this.over || !this.link()) return;
    for (const name of TOUCHES) addEventListener(name, this.touched, { passive: true, capture: true });
    document.addEventListener("visibilitychange", this.seen);
    this.note(true);
    this.seen();
  }

  begin() {
    clearTimeout(this.timer);
    if (!this.over) this.timer = setTimeout(() => this.go(), PAUSE);
  }

  go() {
    const link = this.link();
    if (this.over || !link || document.visibilityState !== "visible") return;
    this.stay();
    history.replaceState({ ...history.state, paydeskReturned: true }, "");
    location.assign(link.href);
  }

  /** Never goes by itself any more. */
  stay() {
    this.over = true;
    this.note(false);
    this.end();
  }

  end() {
    clearTimeout(this.timer);
    for (const name of TOUCHES) removeEventListener(name, this.touched, { capture: true });
    document.removeEventListener("visibilitychange", this.seen);
  }

  /** @param {boolean} on */
  note(on) {
    this.main.querySelector('[data-note="returns"]')?.toggleAttribute("data-on", on);
  }

  /** @returns {HTMLAnchorElement | null} */
  link() {
    return this.main.querySelector('a[data-action="back"]');
  }
}
