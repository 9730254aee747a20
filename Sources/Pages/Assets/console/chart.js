// @ts-check
import { h, svg } from "./dom.js";

/** Height of the plot, and of the whole picture with its labels, in CSS pixels. */
const PLOT = 192;
const TOP = 8;
const HEIGHT = 232;

/**
 * A number of the form 1, 2 or 5 times a power of ten, so that four lines hold `value`.
 * @param {number} value
 */
export function step(value) {
  const least = Math.max(1, value / 3);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map(factor => factor * power).find(each => each >= least) ?? 10 * power;
}

/**
 * Bars of one series with labelled axes. The same numbers stand in a table beside it, so it is hidden from readers.
 * @param {{name: string, label: string, value: number}[]} points the last one is not over
 * @param {(value: number) => string} words
 */
export function chart(points, words) {
  const most = Math.max(0, ...points.map(point => point.value));
  const unit = step(most);
  const y = /** @param {number} value */ value => TOP + PLOT - (value / (3 * unit)) * PLOT;
  const axis = [0, 1, 2, 3].map(line => svg("text", { x: "100%", dx: -12, y: y(line * unit) + 4, "text-anchor": "end" }, words(line * unit)));
  const lines = [1, 2, 3].map(line => svg("line", { class: "grid", x1: 0, x2: "100%", y1: y(line * unit), y2: y(line * unit) }));
  const width = 100 / Math.max(1, points.length);
  const bars = points.map((point, index) => {
    const height = Math.max(0, (point.value / (3 * unit)) * PLOT);
    const bar = svg("rect", { class: index === points.length - 1 ? "bar today" : "bar", x: `${(index + 0.16) * width}%`, y: TOP + PLOT - height, width: `${width * 0.68}%`, height, rx: 2 });
    bar.append(svg("title", {}, `${point.label}: ${words(point.value)}`));
    return bar;
  });
  const labels = points.flatMap((point, index) => {
    const fromEnd = points.length - 1 - index;
    if (fromEnd % 7 !== 0) return [];
    const anchor = fromEnd === 0 ? "end" : "middle";
    return [svg("text", { class: fromEnd % 14 === 0 ? null : "alt", x: `${fromEnd === 0 ? 100 : (index + 0.5) * width}%`, y: TOP + PLOT + 24, "text-anchor": anchor }, point.label)];
  });
  const base = svg("line", { class: "base", x1: 0, x2: "100%", y1: TOP + PLOT, y2: TOP + PLOT });
  return h("div", { class: "chart", "aria-hidden": "true" }, svg("svg", { height: HEIGHT }, ...axis), svg("svg", { class: "plot", height: HEIGHT }, ...lines, ...bars, ...labels, base));
}
